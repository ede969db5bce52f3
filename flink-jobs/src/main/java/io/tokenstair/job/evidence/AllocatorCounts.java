package io.tokenstair.job.evidence;

import io.tokenstair.event.AllocatorSampled;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Rises of an allocator's counts of retries and failures: between two samples that many happened, each once. Bounded by
 * {@value #DEVICES} devices and {@value #RISES} rises.
 */
public class AllocatorCounts {
    static final int DEVICES = 64;
    static final int RISES = 64;

    /** Samples further apart say too little of a single step. */
    static final long APART_NANOS = 60_000_000_000L;

    /** The last sample of a device. */
    public static class Sample {
        public String clockId = "";
        public long stampNanos;
        public long retries;
        public long failures;

        /** For Flink's serializer. */
        public Sample() {}
    }

    /** Retries and failures between two samples. */
    public static class Rise {
        public String clockId = "";
        public long fromNanos;
        public long toNanos;
        /** How many have not been laid to a step yet. */
        public long left;

        public String eventId = "";
        public String deviceId = "";

        /** For Flink's serializer. */
        public Rise() {}
    }

    public Map<String, Sample> samples = new HashMap<>();
    public List<Rise> rises = new ArrayList<>();

    /** For Flink's serializer. */
    public AllocatorCounts() {}

    void accept(AllocatorSampled sampled, String clockId, long stampNanos, String eventId) {
        if (sampled.retryCount() == null && sampled.failureCount() == null) {
            return;
        }
        String device = sampled.deviceId() == null ? "" : sampled.deviceId();
        Sample before = samples.get(device);
        if (before == null && samples.size() == DEVICES) {
            return;
        }
        Sample now = new Sample();
        now.clockId = clockId;
        now.stampNanos = stampNanos;
        now.retries = sampled.retryCount() == null ? before == null ? 0 : before.retries : sampled.retryCount();
        now.failures = sampled.failureCount() == null ? before == null ? 0 : before.failures : sampled.failureCount();
        samples.put(device, now);
        if (before == null || !before.clockId.equals(clockId) || before.stampNanos >= stampNanos) {
            return;
        }
        long more = Math.max(0, now.retries - before.retries) + Math.max(0, now.failures - before.failures);
        if (more == 0 || stampNanos - before.stampNanos > APART_NANOS) {
            return;
        }
        Rise rise = new Rise();
        rise.clockId = clockId;
        rise.fromNanos = before.stampNanos;
        rise.toNanos = stampNanos;
        rise.left = more;
        rise.eventId = eventId;
        rise.deviceId = device;
        if (rises.size() == RISES) {
            rises.remove(0);
        }
        rises.add(rise);
    }

    /** True once every sampled device was sampled at or after this reading of the engine's clock. */
    boolean covers(long nanos, String engineClockId) {
        for (Sample sample : samples.values()) {
            if (sample.clockId.equals(engineClockId) && sample.stampNanos < nanos) {
                return false;
            }
        }
        return true;
    }

    /** Lays a retry or failure to a step in which one may lie; null when none is left. */
    @Nullable
    Rise take(long from, long to, ClockShift.Ways ways) {
        for (Rise rise : rises) {
            ClockShift shift = rise.left == 0 ? null : ways.toEngine(rise.clockId, to);
            if (shift != null && rise.fromNanos + shift.addNanos() < to && rise.toNanos + shift.addNanos() > from) {
                rise.left--;
                return rise;
            }
        }
        return null;
    }
}
