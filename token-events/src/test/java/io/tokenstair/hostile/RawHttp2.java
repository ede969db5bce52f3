package io.tokenstair.hostile;

import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** One connection of HTTP/2 without TLS whose frames are written by hand (RFC 9113), so that they can break every custom. */
public final class RawHttp2 implements AutoCloseable {
    /** Frame of the head of a request. */
    public static final int HEADERS = 1;
    /** Frame that cancels a stream. */
    public static final int RST_STREAM = 3;
    /** Frame of settings. */
    public static final int SETTINGS = 4;
    /** Frame of a ping. */
    public static final int PING = 6;
    /** Frame that ends a connection. */
    public static final int GO_AWAY = 7;
    /** Frame that goes on with a head. */
    public static final int CONTINUATION = 9;

    private static final int END_STREAM = 1;
    private static final int END_HEADERS = 4;

    private final Socket socket = new Socket();
    private final OutputStream out;
    private final DataInputStream in;

    private RawHttp2(int port) throws IOException {
        socket.setReceiveBufferSize(4_096);
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        out = new BufferedOutputStream(socket.getOutputStream(), 1 << 16);
        in = new DataInputStream(socket.getInputStream());
        out.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        frame(SETTINGS, 0, 0, new byte[0]);
        out.flush();
    }

    /** Connects to a port of the loopback address. */
    public static RawHttp2 connect(int port) throws IOException {
        return new RawHttp2(port);
    }

    /** Writes a frame. */
    public void frame(int type, int flags, int stream, byte[] payload) throws IOException {
        out.write(ByteBuffer.allocate(9)
                .put((byte) (payload.length >> 16))
                .putShort((short) payload.length)
                .put((byte) type)
                .put((byte) flags)
                .putInt(stream)
                .array());
        out.write(payload);
    }

    /** Writes the head of a POST; with its end where it has no body. */
    public void post(int stream, String path, boolean ends) throws IOException {
        byte[] target = path.getBytes(StandardCharsets.US_ASCII);
        ByteBuffer head = ByteBuffer.allocate(9 + target.length);
        // :method POST, :scheme http, :path literally, :authority literally.
        head.put((byte) 0x83)
                .put((byte) 0x86)
                .put((byte) 0x04)
                .put((byte) target.length)
                .put(target);
        head.put((byte) 0x01).put((byte) 1).put((byte) 'a');
        frame(HEADERS, END_HEADERS | (ends ? END_STREAM : 0), stream, slice(head));
    }

    /** Writes a head that has not ended: continuations are to follow. */
    public void endlessHead(int stream) throws IOException {
        frame(HEADERS, 0, stream, new byte[] {(byte) 0x83, (byte) 0x86});
    }

    /** Writes the cancellation of a stream. */
    public void cancel(int stream) throws IOException {
        frame(RST_STREAM, 0, stream, new byte[] {0, 0, 0, 8});
    }

    /** Sends what was written. */
    public void flush() throws IOException {
        out.flush();
    }

    private static byte[] slice(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.position()];
        buffer.flip().get(bytes);
        return bytes;
    }

    /** Opens streams and resets each at once, until that is done or the other side has cut it off; gives how many went out. */
    public int postAndCancel(String path, boolean ends, int streams) {
        int sent = 0;
        try {
            for (int i = 0; i < streams; i++) {
                post(1 + 2 * i, path, ends);
                cancel(1 + 2 * i);
                sent++;
                if (i % 50 == 0) {
                    flush();
                }
            }
            flush();
        } catch (IOException cutOff) {
            return sent;
        }
        return sent;
    }

    /** Reads until the other side has closed the connection; false where it has not within a time without a frame. */
    public boolean isClosedWithin(int millis) throws IOException {
        socket.setSoTimeout(millis);
        try {
            while (true) {
                int length = in.readUnsignedByte() << 16 | in.readUnsignedShort();
                int type = in.readUnsignedByte();
                in.skipNBytes(5L + length);
                if (type == GO_AWAY) {
                    return true;
                }
            }
        } catch (SocketTimeoutException open) {
            return false;
        } catch (IOException closed) {
            return true;
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
