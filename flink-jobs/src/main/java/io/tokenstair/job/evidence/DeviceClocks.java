package io.tokenstair.job.evidence;

import io.tokenstair.event.DeviceSampled;
import io.tokenstair.job.window.SortedWindow;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The clocks of an engine's devices as sampled. Bounded by {@value #DEVICES} devices with {@value #KEPT} samples and a window of
 * {@value #USUAL} each; samples of further devices are not kept.
 */
public class DeviceClocks {
    static final int DEVICES = 64;
    static final int KEPT = 512;
    static final int USUAL = 400;

    /**
     * Samples that follow each other sooner are not all kept: a step waits for its records, {@link EngineEvidence#SAMPLE_MILLIS} at
     * most, and the sample before its end must still be there then, however often the device is sampled.
     */
    static final long KEPT_EVERY_NANOS = 8_000_000L;

    /** A sample says nothing of a step this much later. */
    static final long STALE_NANOS = 60_000_000_000L;

    /** Samples that follow each other sooner do not all count for what is usual. */
    static final long USUAL_EVERY_NANOS = 1_000_000_000L;

    /** Samples of one device. */
    public static class Device {
        public String clockId = "";
        public long[] stampNanos = new long[KEPT];
        public long[] hertz = new long[KEPT];
        public int next;
        public int count;
        public SortedWindow usualHertz = new SortedWindow(USUAL);
        /** Stamp of the newest sample in it. */
        public long usualAtNanos;

        public String throttleReason = "";
        public String lastEventId = "";

        /** For Flink's serializer. */
        public Device() {}

        private void keep(long stamp, long sampledHertz) {
            if (count > 0) {
                long since = stamp - stampNanos[at(0)];
                if (since >= 0 && since < KEPT_EVERY_NANOS) {
                    return;
                }
            }
            stampNanos[next] = stamp;
            hertz[next] = sampledHertz;
            // Not KEPT: state of an earlier build has fewer.
            next = (next + 1) % stampNanos.length;
            count = Math.min(count + 1, stampNanos.length);
        }

        /** Where a kept sample is, by its age: 0 is the newest. */
        private int at(int age) {
            return Math.floorMod(next - 1 - age, stampNanos.length);
        }
    }

    public Map<String, Device> devices = new HashMap<>();

    /** For Flink's serializer. */
    public DeviceClocks() {}

    void accept(DeviceSampled sample, String clockId, long stampNanos, String eventId) {
        Long hertz = sample.smClockHertz();
        if (hertz == null || hertz <= 0) {
            return;
        }
        Device device = devices.get(sample.deviceId());
        if (device == null) {
            if (devices.size() == DEVICES) {
                return;
            }
            device = new Device();
            devices.put(sample.deviceId(), device);
        }
        if (!device.clockId.equals(clockId)) {
            device.clockId = clockId;
            device.count = 0;
            device.usualAtNanos = stampNanos - USUAL_EVERY_NANOS;
        }
        device.keep(stampNanos, hertz);
        if (device.usualHertz.size() < 2 || stampNanos - device.usualAtNanos >= USUAL_EVERY_NANOS) {
            // What is usual spans minutes, however often it is sampled: a hot spell must not become usual.
            device.usualHertz.add(hertz);
            device.usualAtNanos = stampNanos;
        }
        device.throttleReason = sample.throttleReason() == null ? "" : sample.throttleReason();
        device.lastEventId = eventId;
    }

    /** The device of a kernel record: by its id, or the only one that is sampled where the record names none. */
    @Nullable
    Device of(String deviceId) {
        Device device = devices.get(deviceId);
        if (device == null && deviceId.isEmpty() && devices.size() == 1) {
            return devices.values().iterator().next();
        }
        return device;
    }

    /**
     * How many times slower than usual a device's clock ran at a reading of the engine's clock: usual is what nine of ten samples do
     * not exceed, because a clock only ever falls. NaN where no sample is near.
     */
    static double slowdown(@Nullable Device device, long atNanos, ClockShift.Ways ways) {
        if (device == null || device.count == 0 || device.usualHertz.size() < 2) {
            return Double.NaN;
        }
        ClockShift shift = ways.toEngine(device.clockId, atNanos);
        if (shift == null) {
            return Double.NaN;
        }
        long hertz = 0;
        for (int age = 0; age < device.count && hertz == 0; age++) {
            int i = device.at(age);
            long stamp = device.stampNanos[i] + shift.addNanos();
            if (stamp <= atNanos && atNanos - stamp <= STALE_NANOS) {
                hertz = device.hertz[i];
            }
        }
        if (hertz == 0) {
            return Double.NaN;
        }
        long usual = device.usualHertz.sorted[(device.usualHertz.size() * 9 - 1) / 10];
        return Math.max(1, (double) usual / hertz);
    }
}
