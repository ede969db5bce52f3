package io.tokenstair.archive;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Sequence numbers seen, as ranges: as large as their number of holes. */
final class SequenceSet {
    /** First of a range to its last. */
    private final TreeMap<Long, Long> ranges = new TreeMap<>();

    private long count;

    /** Adds a number; false when it was there. */
    boolean add(long number) {
        Map.Entry<Long, Long> below = ranges.floorEntry(number);
        if (below != null && below.getValue() >= number) {
            return false;
        }
        count++;
        long first = number;
        long last = number;
        if (below != null && below.getValue() == number - 1) {
            first = below.getKey();
        }
        Long above = ranges.remove(number + 1);
        if (above != null) {
            last = above;
        }
        ranges.put(first, last);
        return true;
    }

    boolean contains(long number) {
        Map.Entry<Long, Long> below = ranges.floorEntry(number);
        return below != null && below.getValue() >= number;
    }

    /** Numbers seen. */
    long count() {
        return count;
    }

    /** The ranges between the first and the last number that were not seen, in order. */
    List<ArchiveCheck.MissingRange> holes() {
        List<ArchiveCheck.MissingRange> holes = new ArrayList<>();
        long expected = 0;
        boolean started = false;
        for (Map.Entry<Long, Long> range : ranges.entrySet()) {
            if (started && range.getKey() > expected) {
                holes.add(new ArchiveCheck.MissingRange(expected, range.getKey() - 1));
            }
            expected = range.getValue() + 1;
            started = true;
        }
        return List.copyOf(holes);
    }
}
