package io.tokenstair.collect.otlp.receive;

import io.tokenstair.event.Event;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A queue to a log that nobody empties. */
final class HeldEvents implements EventWay {
    record Held(@Nullable String clockId, @Nullable Long clockNanos, Event event) {}

    private final int most;
    private final List<Held> held = new ArrayList<>();

    HeldEvents(int most) {
        this.most = most;
    }

    @Override
    public synchronized int roomCount() {
        return most - held.size();
    }

    @Override
    public int mostCount() {
        return most;
    }

    @Override
    public synchronized boolean offer(@Nullable String clockId, @Nullable Long clockNanos, Event event) {
        if (held.size() == most) {
            return false;
        }
        return held.add(new Held(clockId, clockNanos, event));
    }

    @Override
    public @Nullable String trouble() {
        return null;
    }

    synchronized List<Held> held() {
        return List.copyOf(held);
    }

    synchronized void clear() {
        held.clear();
    }

    <T extends Event> List<T> all(Class<T> kind) {
        return held().stream()
                .map(Held::event)
                .filter(kind::isInstance)
                .map(kind::cast)
                .toList();
    }
}
