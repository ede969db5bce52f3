package io.tokenstair.gateway;

import io.vertx.core.http.HttpConnection;
import java.util.Collections;
import java.util.Set;
import java.util.WeakHashMap;

/** The connections to the engine on which a request has gone before. One event loop's own. */
final class UsedConnections {
    private final Set<HttpConnection> used = Collections.newSetFromMap(new WeakHashMap<>());

    /** Takes the connection for a request; true where it served one before. */
    boolean use(HttpConnection connection) {
        return !used.add(connection);
    }
}
