package io.tokenstair.collector.reach;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.UnknownHostException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Whether a collector can listen at an address. */
public final class PortLook {
    private static final Pattern TCP = Pattern.compile("tcp://(\\[[0-9a-fA-F:.%]+]|[^\\s:\\[\\]/]+):(\\d{1,5})");

    private PortLook() {}

    /**
     * A look.
     *
     * @param subject the option it is about
     * @param host where it is to listen
     * @param port where it is to listen
     */
    public static Look at(String subject, String host, int port) {
        String shown = host.contains(":") ? "[" + host + "]:" + port : host + ":" + port;
        return new Look(subject, shown, () -> look(host, port));
    }

    /** A look at an address that is bound over ZeroMQ, such as tcp://127.0.0.1:5559 or one with a star for the host. */
    public static Look atZeroMq(String subject, String address) {
        return new Look(subject, address, () -> {
            Matcher tcp = TCP.matcher(address);
            if (tcp.matches()) {
                String host = tcp.group(1).replaceAll("[\\[\\]]", "");
                return look(host.equals("*") ? "0.0.0.0" : host, Integer.parseInt(tcp.group(2)));
            }
            return address.startsWith("ipc://")
                    ? Seen.ok("a file, made when the collector starts")
                    : Seen.failed("not an address to listen at", "give tcp://host:port or ipc://path");
        });
    }

    static Seen look(String host, int port) {
        try (ServerSocket socket = new ServerSocket()) {
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(InetAddress.getByName(host), port), 1);
            return Seen.ok("free");
        } catch (UnknownHostException unknown) {
            return Seen.failed("no such host", "give an address of this machine, such as 127.0.0.1");
        } catch (BindException taken) {
            String message = String.valueOf(taken.getMessage());
            if (message.contains("annot assign")) {
                return Seen.failed("no address of this machine", "give an address of this machine, such as 127.0.0.1");
            }
            if (message.contains("ermission")) {
                return Seen.failed("not allowed to listen there", "choose a port from 1024 up");
            }
            String owner = ListeningProcess.of(port);
            return Seen.failed(
                    "taken" + (owner == null ? "" : " by " + owner),
                    "stop what listens there, or choose another port; well if it is this collector, running already");
        } catch (IOException failed) {
            return Seen.failed("cannot listen there: " + failed.getClass().getSimpleName(), "choose another port");
        }
    }

    /** Who has a port, for a sentence; null where that cannot be told. */
    static @Nullable String owner(int port) {
        return ListeningProcess.of(port);
    }
}
