package io.tokenstair.job.step;

import io.tokenstair.event.HostSampled;
import org.jspecify.annotations.Nullable;

/**
 * Core records of an engine's threads as running totals over the clock: how long a thread stood ready without a core, and how
 * long it neither ran nor was ready (stalled). Between two samples a total is interpolated. Only the last samples are kept: a
 * timeline asks forward only.
 */
public class HostThreads {
    private static final int KEPT = 256;

    /** One thread's samples. */
    public static class Track {
        public long[] stampNanos = new long[KEPT];
        public long[] waitNanos = new long[KEPT];
        public long[] activeNanos = new long[KEPT];
        /** One more than the running total; 0 where it was not read. */
        public long[] blockIoWaitNanos = new long[KEPT];

        public int count;
        public int head;

        /** For Flink's serializer. */
        public Track() {}

        int at(int age) {
            return (head - 1 - age + 2 * KEPT) % KEPT;
        }

        void add(long stamp, long onCore, long wait, @Nullable Long blockIoWait) {
            if (count > 0 && stamp <= latestNanos()) {
                return;
            }
            stampNanos[head] = stamp;
            waitNanos[head] = wait;
            activeNanos[head] = onCore + wait;
            blockIoWaitNanos[head] = blockIoWait == null || blockIoWait < 0 ? 0 : blockIoWait + 1;
            head = (head + 1) % KEPT;
            count = Math.min(count + 1, KEPT);
        }

        long latestNanos() {
            return count == 0 ? Long.MIN_VALUE : stampNanos[at(0)];
        }

        /**
         * Running total of waiting, or of stalling, at a stamp; NaN outside the kept samples. Stalling is the time that the thread
         * neither ran nor was ready: the clock less both. The kernel books a wait when it ends, so single sample intervals say
         * little and only differences over a whole gap are used.
         */
        double total(long stamp, boolean stalled) {
            for (int age = 0; age + 1 < count; age++) {
                int after = at(age);
                int before = at(age + 1);
                if (stampNanos[before] <= stamp && stamp <= stampNanos[after]) {
                    double share = (double) (stamp - stampNanos[before]) / (stampNanos[after] - stampNanos[before]);
                    double from = stalled ? stampNanos[before] - activeNanos[before] : waitNanos[before];
                    double to = stalled ? stampNanos[after] - activeNanos[after] : waitNanos[after];
                    return from + share * (to - from);
                }
            }
            return Double.NaN;
        }

        /** What a running total gained between two stamps; 0 for a thread that is not sampled, NaN outside the kept samples. */
        double during(long from, long to, boolean stalled) {
            return count == 0 ? 0 : total(to, stalled) - total(from, stalled);
        }

        /**
         * How long the thread waited for block I/O between two stamps beyond what it usually does, at most: the kernel books a wait when it
         * ends, which may be behind the end of the step that waited, so what the running total gained between the samples around both
         * stamps counts, less what it gained in such a time before. NaN outside the kept samples, and where it was not read.
         */
        double blockIoWaitBeyondUsual(long from, long to) {
            int after = 0;
            while (after + 1 < count && stampNanos[at(after + 1)] >= to) {
                after++;
            }
            int before = after;
            while (before + 1 < count && stampNanos[at(before)] > from) {
                before++;
            }
            if (count == 0 || stampNanos[at(before)] > from || stampNanos[at(after)] < to) {
                return Double.NaN;
            }
            double gained = blockIoWait(before, after);
            double known = stampNanos[at(before)] - stampNanos[at(count - 1)];
            double around = stampNanos[at(after)] - stampNanos[at(before)];
            double usual = known == 0 ? 0 : blockIoWait(count - 1, before) * around / known;
            return gained - (Double.isNaN(usual) ? 0 : usual);
        }

        private double blockIoWait(int fromAge, int toAge) {
            long from = blockIoWaitNanos[at(fromAge)];
            long to = blockIoWaitNanos[at(toAge)];
            return from == 0 || to == 0 ? Double.NaN : to - from;
        }

        /** Length of the sample interval that ended last. */
        long periodNanos() {
            return count < 2 ? 0 : stampNanos[at(0)] - stampNanos[at(1)];
        }
    }

    public Track engine = new Track();
    public Track worker = new Track();
    public String lastEventId = "";

    /** For Flink's serializer. */
    public HostThreads() {}

    /** Takes a sample; roles other than engine and worker are not on the engine's critical path. */
    public void accept(HostSampled sample, long stampNanos, String eventId) {
        if (sample.onCoreNanos() == null || sample.coreWaitNanos() == null) {
            return;
        }
        if (sample.processRole().equals("engine")) {
            engine.add(stampNanos, sample.onCoreNanos(), sample.coreWaitNanos(), sample.blockIoWaitNanos());
            lastEventId = eventId;
        } else if (sample.processRole().equals("worker")) {
            worker.add(stampNanos, sample.onCoreNanos(), sample.coreWaitNanos(), sample.blockIoWaitNanos());
            lastEventId = eventId;
        }
    }

    /** Length of the longer of the sample intervals that ended last. */
    public long periodNanos() {
        return Math.max(engine.periodNanos(), worker.periodNanos());
    }

    /** True once any thread of the engine was sampled. */
    public boolean reported() {
        return engine.count > 0 || worker.count > 0;
    }

    /** True when every sampled thread was sampled at or after this stamp. */
    public boolean covers(long stampNanos) {
        return (engine.count == 0 || engine.latestNanos() >= stampNanos)
                && (worker.count == 0 || worker.latestNanos() >= stampNanos);
    }

    /**
     * Time ready without a core up to a stamp, worker and engine core together: the sample period is longer than a step, so which
     * of them was on the critical path cannot be told. NaN where no sample covers the stamp.
     */
    public double coreWaitNanos(long stampNanos) {
        double ofEngine = engine.count == 0 ? 0 : engine.total(stampNanos, false);
        double ofWorker = worker.count == 0 ? 0 : worker.total(stampNanos, false);
        return reported() ? ofEngine + ofWorker : Double.NaN;
    }
}
