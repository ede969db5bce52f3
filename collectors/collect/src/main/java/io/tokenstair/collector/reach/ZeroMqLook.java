package io.tokenstair.collector.reach;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Greets a ZeroMQ socket (ZMTP 3.0, rfc.zeromq.org/spec/23) and leaves: says which kind it is. No message is taken. */
public final class ZeroMqLook {
    private static final Pattern TCP = Pattern.compile("tcp://(\\[[0-9a-fA-F:.%]+]|[^\\s:\\[\\]/]+):(\\d{1,5})");
    private static final int GREETING_BYTES = 64;
    private static final int ANSWER_MILLIS = 2_000;
    private static final int MOST_READY_BYTES = 4_096;

    private ZeroMqLook() {}

    /**
     * A look.
     *
     * @param subject the option it is about
     * @param address where a collector connects to
     * @param wantedKinds kinds of socket that it may be, such as PUB
     * @param asWhat kind of socket to greet as, such as SUB
     * @param whoIsWanted who should be there
     */
    public static Look at(String subject, String address, List<String> wantedKinds, String asWhat, String whoIsWanted) {
        return new Look(subject, address, () -> look(address, wantedKinds, asWhat, whoIsWanted));
    }

    private static Seen look(String address, List<String> wantedKinds, String asWhat, String whoIsWanted) {
        if (address.startsWith("ipc://")) {
            Path file = Path.of(address.substring("ipc://".length()));
            return Files.exists(file)
                    ? Seen.ok("its file is there")
                    : Seen.failed("its file is not there", "start " + whoIsWanted + ", or check the path");
        }
        Matcher tcp = TCP.matcher(address);
        if (!tcp.matches()) {
            return Seen.failed("not an address to connect to", "give tcp://host:port or ipc://path");
        }
        String host = tcp.group(1).replaceAll("[\\[\\]]", "");
        int port = Integer.parseInt(tcp.group(2));
        try (Socket socket = TcpPeer.connect(host, port)) {
            return greeted(socket, wantedKinds, asWhat);
        } catch (IOException absent) {
            return TcpPeer.absence(absent, port, whoIsWanted);
        }
    }

    private static Seen greeted(Socket socket, List<String> wantedKinds, String asWhat) throws IOException {
        socket.setSoTimeout(ANSWER_MILLIS);
        Seen noZeroMq = Seen.failed("somebody listens there who speaks no ZeroMQ", "check the port");
        try {
            OutputStream out = socket.getOutputStream();
            DataInputStream in = new DataInputStream(socket.getInputStream());
            out.write(greeting());
            out.flush();
            byte[] greeting = new byte[GREETING_BYTES];
            in.readFully(greeting, 0, 10);
            if ((greeting[0] & 0xFF) != 0xFF || greeting[9] != 0x7F) {
                return noZeroMq;
            }
            in.readFully(greeting, 10, GREETING_BYTES - 10);
            String mechanism = new String(greeting, 12, 20, StandardCharsets.US_ASCII).replace("\0", "");
            if (!mechanism.equals("NULL")) {
                return Seen.failed(
                        "it asks for the mechanism " + FoundServer.shown(mechanism),
                        "switch it off there: none is spoken here");
            }
            out.write(ready(asWhat));
            out.flush();
            String kind = kind(in);
            return wantedKinds.contains(kind)
                    ? Seen.ok("a ZeroMQ socket of kind " + kind)
                    : Seen.failed(
                            "a ZeroMQ socket of kind " + FoundServer.shown(kind),
                            "one of kind " + wantedKinds.get(0) + " is wanted: are two addresses mixed up?");
        } catch (SocketTimeoutException | EOFException silent) {
            return noZeroMq;
        }
    }

    private static byte[] greeting() {
        ByteBuffer greeting = ByteBuffer.allocate(GREETING_BYTES);
        greeting.put((byte) 0xFF).put(new byte[8]).put((byte) 0x7F);
        greeting.put((byte) 3).put((byte) 0);
        greeting.put("NULL".getBytes(StandardCharsets.US_ASCII));
        return greeting.array();
    }

    private static byte[] ready(String kind) {
        byte[] value = kind.getBytes(StandardCharsets.US_ASCII);
        byte[] name = "Socket-Type".getBytes(StandardCharsets.US_ASCII);
        int bodyBytes = 6 + 1 + name.length + 4 + value.length;
        return ByteBuffer.allocate(2 + bodyBytes)
                .put((byte) 4)
                .put((byte) bodyBytes)
                .put((byte) 5)
                .put("READY".getBytes(StandardCharsets.US_ASCII))
                .put((byte) name.length)
                .put(name)
                .putInt(value.length)
                .put(value)
                .array();
    }

    /** The Socket-Type of the peer's READY command; empty where it sends another command. */
    private static String kind(DataInputStream in) throws IOException {
        int flags = in.readUnsignedByte();
        long length = (flags & 2) != 0 ? in.readLong() : in.readUnsignedByte();
        if ((flags & 4) == 0 || length < 6 || length > MOST_READY_BYTES) {
            return "";
        }
        byte[] body = new byte[(int) length];
        in.readFully(body);
        ByteBuffer properties = ByteBuffer.wrap(body);
        byte[] command = new byte[properties.get() & 0xFF];
        if (command.length > properties.remaining()) {
            return "";
        }
        properties.get(command);
        while (properties.remaining() > 5) {
            byte[] name = new byte[properties.get() & 0xFF];
            if (name.length + 4 > properties.remaining()) {
                return "";
            }
            properties.get(name);
            int bytes = properties.getInt();
            if (bytes < 0 || bytes > properties.remaining()) {
                return "";
            }
            byte[] value = new byte[bytes];
            properties.get(value);
            if (new String(name, StandardCharsets.US_ASCII).equalsIgnoreCase("Socket-Type")) {
                return new String(value, StandardCharsets.US_ASCII);
            }
        }
        return "";
    }
}
