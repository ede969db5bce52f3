package io.tokenstair.server;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpConnection;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Closes connections on which no request has been open for too long: whole heads count, not single bytes. Bounds the requests that are open
 * on one: the limit that HTTP/2 tells a client holds only once the client has said that it heard it. Each connection's calls come from its
 * own event loop.
 */
public final class RestingConnections {
    private static final long NO_TIMER = -1;

    private final Vertx vertx;
    private final long restMillis;
    private final int mostOpen;
    private final Map<HttpConnection, Guard> guards = new ConcurrentHashMap<>();

    /** What keeps a connection from resting for ever. */
    private static final class Guard {
        private int open;
        private long timer = NO_TIMER;
    }

    /**
     * Guards over the connections of a server.
     *
     * @param rest how long a connection may be without an open request
     * @param mostOpen most requests that are open on a connection
     */
    public RestingConnections(Vertx vertx, Duration rest, int mostOpen) {
        this.vertx = vertx;
        this.mostOpen = mostOpen;
        this.restMillis = Math.max(1, rest.toMillis());
    }

    /** A connection has been made. */
    public void connected(HttpConnection connection) {
        Guard guard = new Guard();
        guards.put(connection, guard);
        arm(connection, guard);
    }

    /** A connection has been closed; true the first time. */
    public boolean closed(HttpConnection connection) {
        Guard guard = guards.remove(connection);
        if (guard != null) {
            disarm(guard);
        }
        return guard != null;
    }

    /** The head of a request is whole; false where so many are open already that this one is to be reset. */
    public boolean began(HttpConnection connection) {
        Guard guard = guards.get(connection);
        if (guard == null) {
            return true;
        }
        if (guard.open >= mostOpen) {
            return false;
        }
        guard.open++;
        disarm(guard);
        return true;
    }

    /** A request that began has ended, however. */
    public void ended(HttpConnection connection) {
        Guard guard = guards.get(connection);
        if (guard != null && --guard.open == 0) {
            arm(connection, guard);
        }
    }

    private void arm(HttpConnection connection, Guard guard) {
        disarm(guard);
        guard.timer = vertx.setTimer(restMillis, late -> {
            guard.timer = NO_TIMER;
            if (guard.open == 0) {
                connection.close();
            }
        });
    }

    private void disarm(Guard guard) {
        if (guard.timer != NO_TIMER) {
            vertx.cancelTimer(guard.timer);
            guard.timer = NO_TIMER;
        }
    }
}
