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

    private Headers() {}

    /** Copies what is to be passed on, in its order. */
    static void copy(MultiMap from, MultiMap to, Set<String> leaveOut) {
        Set<String> left = new HashSet<>(leaveOut);
        for (String value : from.getAll("connection")) {
            for (String name : value.split(",", 64)) {
                left.add(name.strip().toLowerCase(Locale.ROOT));
            }
        }
        for (Map.Entry<String, String> header : from) {
            String name = header.getKey().toLowerCase(Locale.ROOT);
            if (!OF_ONE_CONNECTION.contains(name) && !left.contains(name)) {
                to.add(header.getKey(), header.getValue());
            }
        }
    }

    /** All values of a header. */
    static List<String> values(MultiMap headers, String name) {
        return headers.getAll(name);
    }
}
