package io.tokenstair.collector.reach;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import org.jspecify.annotations.Nullable;

/** Whether somebody takes TCP connections at an address. */
final class TcpPeer {
    private static final int CONNECT_MILLIS = 2_000;

    private TcpPeer() {}

    /** Connects. */
    static Socket connect(String host, int port) throws IOException {
        Socket socket = new Socket();
        try {
            InetAddress address = InetAddress.getByName(host);
            socket.connect(new InetSocketAddress(address, port), CONNECT_MILLIS);
            socket.setTcpNoDelay(true);
            return socket;
        } catch (IOException failed) {
            socket.close();
            throw failed;
        }
    }

    /** Why nobody can be connected to; null where somebody can. */
    static @Nullable Seen absence(String host, int port, String whoIsWanted) {
        try (Socket connected = connect(host, port)) {
            return connected.isConnected() ? null : absence(new IOException("not connected"), port, whoIsWanted);
        } catch (IOException failed) {
            return absence(failed, port, whoIsWanted);
        }
    }

    /** What a failure to connect says. */
    static Seen absence(IOException failed, int port, String whoIsWanted) {
        if (failed instanceof UnknownHostException) {
            return Seen.failed("no such host", "check the name, or give the address in numbers");
        }
        if (failed instanceof SocketTimeoutException) {
            return Seen.failed(
                    "no answer to a connection within " + CONNECT_MILLIS / 1_000 + " s",
                    "check the address, and firewalls on the way");
        }
        if (failed instanceof ConnectException) {
            return Seen.failed(
                    "nobody listens there", "start " + whoIsWanted + ", or check that port " + port + " is its");
        }
        return Seen.failed("cannot be connected to: " + failed.getClass().getSimpleName(), "check the address");
    }
}
