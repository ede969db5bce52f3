package io.tokenstair.collect.input;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Which running numbers of a source were seen, so that a number seen twice and numbers never seen can be told. Holds one entry per
 * run of missing numbers.
 */
public final class SequenceLedger {
    private final TreeMap<Long, Missing> missingByFirst = new TreeMap<>();
    private long next;
    private boolean started;

    /**
     * A run of numbers not seen.
     *
     * @param first its first number
     * @param last its last number
     * @param clockNanos stamp of the record that showed the run to be missing
     * @param wallMillis wall reading of that record; absent when it had none
     */
    public record Missing(
            long first,
            long last,
            long clockNanos,
            @Nullable Long wallMillis) {}

    private SequenceLedger(boolean started) {
        this.started = started;
    }

    /** A ledger of numbers that begin at 0: a later first number means a loss. */
    public static SequenceLedger fromZero() {
        return new SequenceLedger(true);
    }

    /** A ledger of numbers that begin with the first one seen. */
    public static SequenceLedger fromFirstSeen() {
        return new SequenceLedger(false);
    }

    /** Whether this number was seen before. */
    public boolean seen(long number) {
        return started && number < next && runWith(number) == null;
    }

    private @Nullable Missing runWith(long number) {
        Map.Entry<Long, Missing> floor = missingByFirst.floorEntry(number);
        return floor == null || floor.getValue().last() < number ? null : floor.getValue();
    }

    /** Notes a number as seen, with the stamps of its record. */
    public void note(long number, long clockNanos, @Nullable Long wallMillis) {
        if (!started) {
            started = true;
            next = number;
        }
        if (number >= next) {
            if (number > next) {
                missingByFirst.put(next, new Missing(next, number - 1, clockNanos, wallMillis));
            }
            next = number + 1;
            return;
        }
        Missing run = runWith(number);
        if (run == null) {
            return;
        }
        missingByFirst.remove(run.first());
        if (run.first() < number) {
            missingByFirst.put(run.first(), new Missing(run.first(), number - 1, run.clockNanos(), run.wallMillis()));
        }
        if (number < run.last()) {
            missingByFirst.put(number + 1, new Missing(number + 1, run.last(), run.clockNanos(), run.wallMillis()));
        }
    }

    /** The numbers not seen so far, in order. */
    public List<Missing> missing() {
        return new ArrayList<>(missingByFirst.values());
    }

    /** The numbers not seen so far, in order, which from now on count as seen: for sources that have no end. */
    public List<Missing> takeMissing() {
        List<Missing> taken = missing();
        missingByFirst.clear();
        return taken;
    }
}
