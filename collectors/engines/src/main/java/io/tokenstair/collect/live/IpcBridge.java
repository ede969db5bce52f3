package io.tokenstair.collect.live;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;

/**
 * A way to publishers at {@code ipc://} addresses: sockets of the file system, which the library in use does not connect to. What comes to a
 * port of the loopback goes there and back, byte by byte; where nobody listens yet the connection is closed, and the library tries again.
 */
final class IpcBridge implements Closeable {
    private static final int BUFFER_BYTES = 1 << 16;
    private static final int MAX_WAITING = 8;

    private final UnixDomainSocketAddress publisher;
    private final ServerSocketChannel listener;

    /**
     * A bridge to a publisher, open at once.
     *
     * @param file the socket's file
     */
    IpcBridge(Path file) throws IOException {
        publisher = UnixDomainSocketAddress.of(file);
        listener = ServerSocketChannel.open()
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), MAX_WAITING);
        start("tokenstair-ipc", this::accept);
    }

    /** Where to connect to instead. */
    String address() throws IOException {
        return "tcp://127.0.0.1:" + ((InetSocketAddress) listener.getLocalAddress()).getPort();
    }

    private static void start(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() {
        while (listener.isOpen()) {
            try (SocketChannel near = listener.accept();
                    SocketChannel far = SocketChannel.open(publisher)) {
                start("tokenstair-ipc-out", () -> pump(near, far));
                pump(far, near);
            } catch (IOException notThere) {
                // Closed, or nobody listens there yet: the library connects again.
                continue;
            }
        }
    }

    private static void pump(SocketChannel from, SocketChannel to) {
        ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES);
        try {
            while (from.read(buffer) >= 0) {
                buffer.flip();
                while (buffer.hasRemaining()) {
                    to.write(buffer);
                }
                buffer.clear();
            }
            from.close();
            to.close();
        } catch (IOException ended) {
            close(from);
            close(to);
        }
    }

    private static void close(SocketChannel channel) {
        try {
            channel.close();
        } catch (IOException gone) {
            return;
        }
    }

    @Override
    public void close() {
        try {
            listener.close();
        } catch (IOException gone) {
            return;
        }
    }
}
