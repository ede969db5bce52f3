package io.tokenstair.collector.reach;

import java.io.DataInputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;

/**
 * Whether a broker of Kafka answers at an address: asks which versions it speaks (kafka.apache.org/protocol, ApiVersions 0). Kafka's own
 * client would take the first bytes of anybody else for a length and make room for it.
 */
final class BrokerPeer {
    private static final short API_VERSIONS = 18;
    private static final int CORRELATION = 0x746f6b65;
    private static final int MOST_BYTES = 1 << 20;
    private static final int PATIENCE_MILLIS = 2_000;

    private BrokerPeer() {}

    static boolean answers(String host, int port) {
        try (Socket socket = TcpPeer.connect(host, port)) {
            socket.setSoTimeout(PATIENCE_MILLIS);
            ByteBuffer request = ByteBuffer.allocate(14);
            request.putInt(10)
                    .putShort(API_VERSIONS)
                    .putShort((short) 0)
                    .putInt(CORRELATION)
                    .putShort((short) -1);
            socket.getOutputStream().write(request.array());
            socket.getOutputStream().flush();
            DataInputStream in = new DataInputStream(socket.getInputStream());
            int length = in.readInt();
            return length >= 6 && length <= MOST_BYTES && in.readInt() == CORRELATION;
        } catch (IOException none) {
            return false;
        }
    }
}
