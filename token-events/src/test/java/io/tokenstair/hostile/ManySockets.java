package io.tokenstair.hostile;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Many connections of one client, of which each sends what it is told to, and reads only to see whether it was closed. */
public final class ManySockets implements AutoCloseable {
    private final List<SocketChannel> open = new ArrayList<>();
    private final StringBuilder answered = new StringBuilder();
    private int closedCount;

    /** Connects so often to a port of the loopback address, with so small receive buffers that little is taken without reading. */
    public static ManySockets connect(int port, int count, int receiveBytes) throws IOException {
        ManySockets many = new ManySockets();
        for (int i = 0; i < count; i++) {
            SocketChannel channel = SocketChannel.open();
            channel.socket().setReceiveBufferSize(receiveBytes);
            channel.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            channel.configureBlocking(false);
            many.open.add(channel);
        }
        return many;
    }

    /**
     * Sends the same on every connection that is still open, and takes what has come on each just before: bytes sent to a side that has
     * closed take from this one what it has not read.
     */
    public void send(byte[] bytes) {
        for (SocketChannel channel : List.copyOf(open)) {
            try {
                if (isOpen(channel)) {
                    channel.write(ByteBuffer.wrap(bytes));
                }
            } catch (IOException broken) {
                drop(channel);
            }
        }
    }

    /** Reads what has come, and finds out which connections were closed at the other side. */
    public void look() {
        for (SocketChannel channel : List.copyOf(open)) {
            try {
                isOpen(channel);
            } catch (IOException broken) {
                drop(channel);
            }
        }
    }

    private boolean isOpen(SocketChannel channel) throws IOException {
        ByteBuffer some = ByteBuffer.allocate(4_096);
        int read = channel.read(some);
        while (read > 0) {
            if (answered.length() < 1 << 20) {
                answered.append(new String(some.array(), 0, read, StandardCharsets.ISO_8859_1));
            }
            read = channel.read(some.clear());
        }
        if (read < 0) {
            drop(channel);
        }
        return read == 0;
    }

    /** Sends bytes up to so many times, a moment apart, until so many connections were closed at the other side. */
    public void sendUntilClosed(byte[] bytes, int times, int connections) throws InterruptedException {
        CountDownLatch never = new CountDownLatch(1);
        for (int i = 0; i < times && closedCount < connections; i++) {
            send(bytes);
            look();
            if (never.await(10, TimeUnit.MILLISECONDS)) {
                return;
            }
        }
    }

    private void drop(SocketChannel channel) {
        if (open.remove(channel)) {
            closedCount++;
            try {
                channel.close();
            } catch (IOException already) {
                return;
            }
        }
    }

    /** Connections that the other side closed. */
    public int closedCount() {
        return closedCount;
    }

    /** What came on all of them, up to a megabyte. */
    public String answered() {
        return answered.toString();
    }

    @Override
    public void close() throws IOException {
        for (SocketChannel channel : open) {
            channel.close();
        }
    }
}
