package io.tokenstair.job.request;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One use of a request id: what its observers saw of it, and its sequences. */
public class LifetimeState {
    static final String CLIENT = "client";

    public int ordinal;
    public long lastEventMillis;

    public @Nullable ObserverStream client;
    public @Nullable ObserverStream gateway;

    public @Nullable String model;
    public boolean warmup;
    public @Nullable Integer choicesCount;
    public @Nullable Long promptTokens;
    public @Nullable Integer priority;
    public boolean roleChunk;
    /** Something rare was said of it: its end is worth saying too. */
    public boolean hasMilestone;

    /** Another use of the id went through the same observer at once: whose chunks are whose cannot be told. */
    public boolean observersOverlap;
    /** Another use of the id had the same name at an engine at once: whose tokens are whose cannot be told. */
    public boolean enginesOverlap;

    public List<String> uniques = new ArrayList<>(1);
    public List<SequenceLife> sequences = new ArrayList<>(1);

    /** For Flink's serializer. */
    public LifetimeState() {}

    boolean observed() {
        return client != null || gateway != null;
    }

    /** What this observer said, or null. Whoever is not the client stands between it and the engine. */
    @Nullable
    ObserverStream stream(String observer) {
        return observer.equals(CLIENT) ? client : gateway;
    }

    /**
     * The observer whose chunks are the delivery: the client, else the gateway; also the gateway beside a client that reported no
     * chunk and is done.
     */
    @Nullable
    ObserverStream deliverer() {
        return client != null && (client.chunksSeen || !client.completed || gateway == null) ? client : gateway;
    }

    /** Whether the delivering observer saw the end. */
    boolean completed() {
        return client != null ? client.completed : gateway != null && gateway.completed;
    }

    /** How it ended: the client's own word, except that a gateway may have seen the client close. */
    @Nullable
    String outcome() {
        String outcome = client == null ? null : client.outcome;
        String atGateway = gateway == null ? null : gateway.outcome;
        return outcome == null || (outcome.equals("failed") && "client-closed".equals(atGateway)) ? atGateway : outcome;
    }

    /** Its error's type as the delivering observer named it, else the gateway. */
    @Nullable
    String errorType() {
        String errorType = client == null ? null : client.errorType;
        return errorType != null || gateway == null ? errorType : gateway.errorType;
    }

    /** The record of its end, or the empty text. */
    String completedEventId() {
        if (client != null && !client.completedEventId.isEmpty()) {
            return client.completedEventId;
        }
        return gateway == null ? "" : gateway.completedEventId;
    }

    /** Whether it was refused, or broke, before its first token. */
    boolean failedWithoutToken() {
        String outcome = outcome();
        if (!"http-error".equals(outcome) && !"failed".equals(outcome)) {
            return false;
        }
        for (SequenceLife sequence : sequences) {
            if (sequence.fromEngine || sequence.clientFirstNanos != null || sequence.gatewayFirstNanos != null) {
                return false;
            }
        }
        return true;
    }
}
