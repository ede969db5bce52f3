package io.tokenstair.clock;

import io.tokenstair.event.ClockFitted;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/**
 * How the clocks of hosts, processes and devices hang together, and the one place where a stamp of one becomes a stamp of another.
 *
 * <p>Clocks are the nodes; a {@link ClockWay} joins two of them and can be gone both ways:
 *
 * <pre>
 *   gpu-0 ---- host-a/mono ---- host-b/mono ---- host-b/wall
 *                   |                |
 *               host-a/wall      gpu-1
 * </pre>
 *
 * A stamp goes along the path whose hard bounds add up to least; of two equal paths the one over the clocks whose ids sort first. Bounds
 * add, statistical widths add as squares. Where there is no path, or a way on it does not hold for the reading, nothing is aligned.
 * Cycles do no harm.
 *
 * <p>An answer depends on the segments published up to the event time of the record that holds the stamp (on steps of clocks, up to a later
 * one that the caller names), and on nothing else: not on when it is asked, nor on what has arrived since. Paths are looked for anew every
 * {@link #PATH_MILLIS} of event time and when a way begins, with the bounds of that moment, so that a stamp costs a look-up and not a search.
 *
 * <p>A clock is a wall clock, whose axis is the epoch, when {@code wall} is a word of its id: {@code wall}, {@code wall@host-a},
 * {@code host-a/wall}.
 */
public final class ClockGraph {
    /** How long a way is known after its last segment, in event time. */
    public static final long MEMORY_MILLIS = 1_200_000;

    /** How often paths are looked for, in event time. */
    public static final long PATH_MILLIS = 10_000;

    private static final int MAX_PATHS = 16_384;

    private final Map<String, ClockWay> ways = new TreeMap<>();
    private final Map<String, List<ClockWay>> waysOf = new HashMap<>();
    private long[] beginnings = new long[0];
    private final Map<String, Map<String, Path>> paths = new HashMap<>();
    private int pathCount;

    /** Whether a clock stepped on any way held. */
    private boolean stepped;

    /** A graph without clocks. Who feeds it bounds their number. */
    public ClockGraph() {}

    /** A graph of these ways, which it goes on to change. */
    public static ClockGraph of(Collection<ClockWay> ways) {
        ClockGraph graph = new ClockGraph();
        ways.forEach(graph::join);
        return graph;
    }

    /** Whether a clock is a wall clock by its id. */
    public static boolean isWall(String clockId) {
        int at = clockId.indexOf("wall");
        while (at >= 0) {
            boolean begins = at == 0 || !Character.isLetterOrDigit(clockId.charAt(at - 1));
            int end = at + "wall".length();
            boolean ends = end == clockId.length() || !Character.isLetterOrDigit(clockId.charAt(end));
            if (begins && ends) {
                return true;
            }
            at = clockId.indexOf("wall", at + 1);
        }
        return false;
    }

    /** The name of a way among others. */
    public static String wayId(String fromClockId, String toClockId) {
        return fromClockId.length() + ":" + fromClockId + toClockId;
    }

    private void join(ClockWay way) {
        ways.put(wayId(way.fromClockId, way.toClockId), way);
        waysOf.computeIfAbsent(way.fromClockId, id -> new ArrayList<>()).add(way);
        waysOf.computeIfAbsent(way.toClockId, id -> new ArrayList<>()).add(way);
        begin(way.firstPublishedMillis);
        stepped |= way.hasSteps();
    }

    private void begin(long millis) {
        int at = Arrays.binarySearch(beginnings, millis);
        if (at < 0) {
            long[] longer = Arrays.copyOf(beginnings, beginnings.length + 1);
            System.arraycopy(longer, -at - 1, longer, -at, beginnings.length + at + 1);
            longer[-at - 1] = millis;
            beginnings = longer;
        }
    }

    /**
     * Takes a segment. A way's segments come in the order of their event time.
     *
     * @param publishedMillis its event time
     * @return the way that it belongs to, changed or not; null when it joins a clock to itself, or says what cannot be
     */
    public @Nullable ClockWay add(ClockFitted segment, long publishedMillis) {
        if (segment.fromClockId().equals(segment.toClockId())) {
            return null;
        }
        String id = wayId(segment.fromClockId(), segment.toClockId());
        ClockWay way = ways.get(id);
        if (way != null) {
            way.add(segment, publishedMillis);
            stepped |= way.hasSteps();
            return way;
        }
        way = ClockWay.between(segment.fromClockId(), segment.toClockId());
        if (way.add(segment, publishedMillis)) {
            join(way);
            return way;
        }
        return null;
    }

    /** Forgets what no record after an event time can need; returns the ids of the ways that are gone. */
    public List<String> forget(long eventMillis) {
        List<String> gone = new ArrayList<>();
        for (Map.Entry<String, ClockWay> entry : ways.entrySet()) {
            if (!entry.getValue().forget(eventMillis)) {
                gone.add(entry.getKey());
            }
        }
        for (String id : gone) {
            ClockWay way = ways.remove(id);
            if (way != null) {
                leave(way.fromClockId, way);
                leave(way.toClockId, way);
            }
        }
        stepped = ways.values().stream().anyMatch(ClockWay::hasSteps);
        if (!gone.isEmpty()) {
            paths.clear();
            pathCount = 0;
        }
        return gone;
    }

    private void leave(String clockId, ClockWay way) {
        List<ClockWay> left = waysOf.get(clockId);
        if (left != null) {
            left.remove(way);
            if (left.isEmpty()) {
                waysOf.remove(clockId);
            }
        }
    }

    /** Ways known. */
    public int wayCount() {
        return ways.size();
    }

    /** The ways, by their ids. */
    public Map<String, ClockWay> ways() {
        return ways;
    }

    // ---- stamps

    /**
     * A stamp on the axis of the wall clock whose path is surest.
     *
     * @param clockId the clock of the stamp
     * @param clockNanos the stamp
     * @param eventMillis event time of the record that holds it
     * @return null when it cannot be aligned
     */
    public @Nullable AlignedStamp toEpoch(String clockId, long clockNanos, long eventMillis) {
        return toEpoch(clockId, clockNanos, eventMillis, eventMillis);
    }

    /**
     * The same of who has waited, and knows of steps that segments show up to a later event time.
     *
     * @param knownMillis event time up to which segments are known
     */
    public @Nullable AlignedStamp toEpoch(String clockId, long clockNanos, long eventMillis, long knownMillis) {
        if (!waysOf.containsKey(clockId)) {
            return isWall(clockId) ? new AlignedStamp(clockNanos, 0) : null;
        }
        Path path = path(clockId, WALL, eventMillis);
        return path == null ? null : path.align(clockNanos, eventMillis, knownMillis);
    }

    /** The wall clock that {@link #toEpoch} would align to, or null. */
    public @Nullable String wallOf(String clockId, long eventMillis) {
        if (!waysOf.containsKey(clockId)) {
            return isWall(clockId) ? clockId : null;
        }
        Path path = path(clockId, WALL, eventMillis);
        return path == null ? null : path.toClockId;
    }

    /**
     * A stamp on the axis of another clock.
     *
     * @param fromClockId the clock of the stamp
     * @param toClockId the clock whose axis is wanted
     * @param clockNanos the stamp
     * @param eventMillis event time of the record that holds it
     * @return null when it cannot be aligned; exact when both clocks are one
     */
    public @Nullable AlignedStamp align(String fromClockId, String toClockId, long clockNanos, long eventMillis) {
        return align(fromClockId, toClockId, clockNanos, eventMillis, eventMillis);
    }

    /**
     * The same of who has waited, and knows of steps that segments show up to a later event time.
     *
     * @param knownMillis event time up to which segments are known
     */
    public @Nullable AlignedStamp align(
            String fromClockId, String toClockId, long clockNanos, long eventMillis, long knownMillis) {
        if (fromClockId.equals(toClockId)) {
            return new AlignedStamp(clockNanos, 0);
        }
        if (!waysOf.containsKey(fromClockId) || !waysOf.containsKey(toClockId)) {
            return null;
        }
        Path path = path(fromClockId, toClockId, eventMillis);
        return path == null ? null : path.align(clockNanos, eventMillis, knownMillis);
    }

    /**
     * Whether a clock on the path between two stepped not long before, or where it is known ahead: rarely true, and cheap to ask.
     *
     * @param eventMillis event time of the record at hand
     * @param knownMillis event time up to which segments are known
     */
    public boolean hasSteps(String fromClockId, String toClockId, long eventMillis, long knownMillis) {
        if (!stepped || !waysOf.containsKey(fromClockId) || !waysOf.containsKey(toClockId)) {
            return false;
        }
        Path path = path(fromClockId, toClockId, eventMillis);
        return path != null && path.hasSteps(eventMillis, knownMillis);
    }

    /** The same of the path to the surest wall clock. */
    public boolean hasSteps(String clockId, long eventMillis, long knownMillis) {
        Path path = stepped && waysOf.containsKey(clockId) ? path(clockId, WALL, eventMillis) : null;
        return path != null && path.hasSteps(eventMillis, knownMillis);
    }

    // ---- paths

    /** Stands for whatever wall clock is nearest. */
    private static final String WALL = "";

    /** The path that counts at an event time; null when there is none. */
    private @Nullable Path path(String from, String to, long eventMillis) {
        long asOf = asOf(eventMillis);
        Map<String, Path> known = paths.get(from);
        Path path = known == null ? null : known.get(to);
        if (path == null || path.asOfMillis != asOf) {
            path = to.equals(WALL)
                    ? search(from, asOf, (clock, target) -> isWall(clock), to)
                    : search(from, asOf, String::equals, to);
            if (pathCount >= MAX_PATHS) {
                paths.clear();
                pathCount = 0;
            }
            if (paths.computeIfAbsent(from, id -> new HashMap<>()).put(to, path) == null) {
                pathCount++;
            }
        }
        return path.found ? path : null;
    }

    /** The instant whose bounds decide on paths: the last multiple of {@link #PATH_MILLIS}, or the beginning of a way since. */
    private long asOf(long eventMillis) {
        if (eventMillis == Long.MAX_VALUE) {
            return eventMillis;
        }
        int at = Arrays.binarySearch(beginnings, eventMillis);
        int begun = at >= 0 ? at : -at - 2;
        long since = Math.floorDiv(eventMillis, PATH_MILLIS) * PATH_MILLIS;
        return begun < 0 ? since : Math.max(since, beginnings[begun]);
    }

    /** Dijkstra's search, by the sum of bounds, then by id. */
    private Path search(String from, long asOf, BiPredicate<String, String> isTarget, String target) {
        Map<String, Reached> reached = new HashMap<>();
        Set<String> settled = new HashSet<>();
        TreeSet<Reached> open = new TreeSet<>();
        Reached start = new Reached(from, 0, null, null);
        reached.put(from, start);
        open.add(start);
        while (!open.isEmpty()) {
            Reached here = open.first();
            open.remove(here);
            settled.add(here.clockId);
            if (isTarget.test(here.clockId, target)) {
                return Path.to(here, asOf);
            }
            for (ClockWay way : waysOf.getOrDefault(here.clockId, List.of())) {
                String clockId = way.fromClockId.equals(here.clockId) ? way.toClockId : way.fromClockId;
                long published = way.publishedMillis(asOf);
                boolean dead =
                        published == Long.MIN_VALUE || (asOf != Long.MAX_VALUE && published < asOf - MEMORY_MILLIS / 2);
                if (dead || settled.contains(clockId)) {
                    continue;
                }
                long bound = AlignedStamp.saturatedSum(here.boundNanos, Math.max(1, way.boundNanos(asOf)));
                Reached there = new Reached(clockId, bound, here, way);
                Reached before = reached.get(clockId);
                if (before == null || there.isBetterThan(before)) {
                    if (before != null) {
                        open.remove(before);
                    }
                    reached.put(clockId, there);
                    open.add(there);
                }
            }
        }
        return Path.none(asOf);
    }

    /** A clock that can be reached, and how. */
    private static final class Reached implements Comparable<Reached> {
        private final String clockId;
        private final long boundNanos;
        private final @Nullable Reached from;
        private final @Nullable ClockWay way;

        private Reached(String clockId, long boundNanos, @Nullable Reached from, @Nullable ClockWay way) {
            this.clockId = clockId;
            this.boundNanos = boundNanos;
            this.from = from;
            this.way = way;
        }

        private boolean isBetterThan(Reached other) {
            if (boundNanos != other.boundNanos) {
                return boundNanos < other.boundNanos;
            }
            if (from == null || other.from == null || way == null || other.way == null) {
                return false;
            }
            int byFrom = from.clockId.compareTo(other.from.clockId);
            return byFrom < 0 || (byFrom == 0 && way.fromClockId.compareTo(other.way.fromClockId) < 0);
        }

        @Override
        public int compareTo(Reached other) {
            int byBound = Long.compare(boundNanos, other.boundNanos);
            return byBound != 0 ? byBound : clockId.compareTo(other.clockId);
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Reached that && boundNanos == that.boundNanos && clockId.equals(that.clockId);
        }

        @Override
        public int hashCode() {
            return 31 * clockId.hashCode() + Long.hashCode(boundNanos);
        }
    }

    /** A path as it was found at some event time, or that there is none. */
    private static final class Path {
        private final boolean found;
        private final long asOfMillis;
        private final String toClockId;
        private final ClockWay[] steps;
        private final boolean[] forward;

        private Path(boolean found, long asOfMillis, String toClockId, ClockWay[] steps, boolean[] forward) {
            this.found = found;
            this.asOfMillis = asOfMillis;
            this.toClockId = toClockId;
            this.steps = steps;
            this.forward = forward;
        }

        private static Path none(long asOf) {
            return new Path(false, asOf, "", new ClockWay[0], new boolean[0]);
        }

        private static Path to(Reached end, long asOf) {
            List<ClockWay> steps = new ArrayList<>();
            List<Boolean> forward = new ArrayList<>();
            for (Reached at = end; at.way != null && at.from != null; at = at.from) {
                steps.add(0, at.way);
                forward.add(0, at.way.toClockId.equals(at.clockId));
            }
            boolean[] directions = new boolean[forward.size()];
            for (int i = 0; i < directions.length; i++) {
                directions[i] = forward.get(i);
            }
            return new Path(true, asOf, end.clockId, steps.toArray(new ClockWay[0]), directions);
        }

        private boolean hasSteps(long eventMillis, long knownMillis) {
            for (ClockWay step : steps) {
                if (step.hasSteps(eventMillis, knownMillis)) {
                    return true;
                }
            }
            return false;
        }

        private @Nullable AlignedStamp align(long clockNanos, long eventMillis, long knownMillis) {
            long nanos = clockNanos;
            long bound = 0;
            long variance = 0;
            for (int i = 0; i < steps.length; i++) {
                AlignedStamp next = forward[i]
                        ? steps[i].align(nanos, eventMillis, knownMillis)
                        : steps[i].alignBack(nanos, eventMillis, knownMillis);
                if (next == null) {
                    return null;
                }
                nanos = next.epochNanos();
                if (i > 0) {
                    // What the reading was off by is stretched by the drift of the next way.
                    bound = AlignedStamp.saturatedSum(bound, FixedPoint.scaled(bound, ClockFit.MAX_DRIFT) + 1);
                }
                bound = AlignedStamp.saturatedSum(bound, next.boundNanos());
                long sigma = Math.min(next.sigmaNanos(), 1L << 30);
                variance = AlignedStamp.saturatedSum(variance, sigma * sigma);
            }
            return new AlignedStamp(nanos, bound, Math.min(bound, (long) StrictMath.sqrt((double) variance)));
        }
    }
}
