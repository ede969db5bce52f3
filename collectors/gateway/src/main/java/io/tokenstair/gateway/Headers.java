package io.tokenstair.gateway;

import io.vertx.core.MultiMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** Which headers a proxy passes on: all but those that speak of one connection only (RFC 9110, 7.6.1). */
final class Headers {
    private static final Set<String> OF_ONE_CONNECTION = Set.of(
            "connection",
            "keep-alive",
            "proxy-connection",
            "proxy-authenticate",
            "proxy-authorization",
            "te",
            "trailer",
            "transfer-encoding",
            "upgrade",
            "http2-settings");

    /** What frames the body and what names the request is for all on its way, whatever a Connection header says of it. */
    private static final Set<String> OF_ALL_CONNECTIONS =
            Set.of("content-length", RequestIdentity.HEADER, TraceContext.HEADER, TraceContext.STATE_HEADER);

    private Headers() {}

    /** Copies what is to be passed on, in its order. */
    static void copy(MultiMap from, MultiMap to, Set<String> leaveOut) {
        Set<String> left = new HashSet<>();
        for (String value : from.getAll("connection")) {
            for (String name : value.split(",", 64)) {
                left.add(name.strip().toLowerCase(Locale.ROOT));
            }
        }
        left.removeAll(OF_ALL_CONNECTIONS);
        left.addAll(leaveOut);
        for (Map.Entry<String, String> header : from) {
            String name = header.getKey().toLowerCase(Locale.ROOT);
            if (!OF_ONE_CONNECTION.contains(name) && !left.contains(name)) {
                to.add(header.getKey(), header.getValue());
            }
        }
    }

    /** True for a request that wants to go on as WebSocket. Any other upgrade may be ignored (RFC 9110, 7.8). */
    static boolean wantsWebSocket(MultiMap headers) {
        for (String value : headers.getAll("upgrade")) {
            for (String protocol : value.split(",", 64)) {
                if (protocol.strip().toLowerCase(Locale.ROOT).startsWith("websocket")) {
                    return true;
                }
            }
        }
        return false;
    }

    /** All values of a header. */
    static List<String> values(MultiMap headers, String name) {
        return headers.getAll(name);
    }
}
