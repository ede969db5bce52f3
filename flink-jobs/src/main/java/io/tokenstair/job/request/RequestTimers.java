package io.tokenstair.job.request;

import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The event time timers of the requests of a subtask, at most one each. All lie on a grid, so there are few times and many requests at each: a
 * time has a list of them, and none is searched or sorted. The times are in {@link RequestBuffer#timerMillis}, so nothing here is kept in
 * snapshots.
 */
final class RequestTimers {
    private final TreeMap<Long, Slot> slots = new TreeMap<>();

    /** The slot that was used last: most requests wait for one of the next few times. */
    private @Nullable Slot last;

    /** Requests that wait for the same time. */
    static final class Slot {
        final long millis;

        @Nullable
        RequestPlace[] places = new @Nullable RequestPlace[16];
        /** Places that are in use, or were. */
        int count;

        private int waiting;

        Slot(long millis) {
            this.millis = millis;
        }

        private void add(RequestPlace place) {
            if (count == places.length) {
                if (waiting < count / 2) {
                    close();
                } else {
                    places = Arrays.copyOf(places, 2 * count);
                }
            }
            place.slot = this;
            place.placeInSlot = count;
            places[count++] = place;
            waiting++;
        }

        private void remove(RequestPlace place) {
            places[place.placeInSlot] = null;
            place.slot = null;
            waiting--;
        }

        /** Closes the gaps that those left who wait no more. */
        private void close() {
            int kept = 0;
            for (int i = 0; i < count; i++) {
                RequestPlace place = places[i];
                if (place != null) {
                    place.placeInSlot = kept;
                    places[kept++] = place;
                }
            }
            Arrays.fill(places, kept, count, null);
            count = kept;
        }
    }

    /** Sets the timer of a request, unless an earlier one is set. */
    void arm(RequestPlace place, long millis) {
        Slot set = place.slot;
        if (set != null) {
            if (set.millis <= millis) {
                return;
            }
            disarm(place);
        }
        Slot slot = last;
        if (slot == null || slot.millis != millis) {
            slot = slots.computeIfAbsent(millis, Slot::new);
            last = slot;
        }
        slot.add(place);
        place.buffer.timerMillis = millis;
    }

    /** Takes the timer of a request away. */
    void disarm(RequestPlace place) {
        Slot slot = place.slot;
        if (slot == null) {
            return;
        }
        slot.remove(place);
        if (slot.waiting == 0 && slots.remove(slot.millis, slot) && last == slot) {
            last = null;
        }
    }

    /** Takes out the earliest slot up to an event time; null when there is none. Nobody in it has a timer any more, whatever it says. */
    @Nullable
    Slot takeDue(long millis) {
        Map.Entry<Long, Slot> first = slots.firstEntry();
        if (first == null || first.getKey() > millis) {
            return null;
        }
        slots.remove(first.getKey());
        if (last == first.getValue()) {
            last = null;
        }
        return first.getValue();
    }

    /** How many requests wait. */
    int size() {
        int waiting = 0;
        for (Slot slot : slots.values()) {
            waiting += slot.waiting;
        }
        return waiting;
    }
}
