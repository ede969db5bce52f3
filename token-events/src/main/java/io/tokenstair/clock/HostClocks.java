package io.tokenstair.clock;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * The names of this machine's two clocks, the same in every collector that runs on it, whatever its language or container: the
 * kernel's boot id names the machine, because host names differ between containers that share one kernel and its clocks.
 */
public final class HostClocks {
    private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");
    private static final Path TIME_NAMESPACE = Path.of("/proc/self/timens_offsets");
    private static final Pattern SHIFTED = Pattern.compile("(?m)^monotonic\\s++(?!0\\s+0\\s*$)");
    private static final String MACHINE = machine(BOOT_ID, TIME_NAMESPACE);

    private HostClocks() {}

    /** The monotonic clock, {@code monotonic@<boot id>}: on Linux what {@link System#nanoTime()} and Python's monotonic_ns read. */
    public static String elapsedId() {
        return "monotonic@" + MACHINE;
    }

    /** The wall clock, {@code wall@<boot id>}. */
    public static String epochId() {
        return "wall@" + MACHINE;
    }

    /** Reads both clocks of this machine at once. */
    public static ClockSampler sampler() {
        return new ClockSampler(elapsedId(), ElapsedClock.system(), epochId(), EpochClock.system());
    }

    /**
     * The name of the machine whose clocks a process reads.
     *
     * @param bootId where the kernel tells its boot id; where there is none, a name that no other process has
     * @param timeNamespace where the kernel tells how a time namespace shifts the monotonic clock; one that does has a clock of its own
     */
    static String machine(Path bootId, Path timeNamespace) {
        String machine;
        try {
            machine = Files.readString(bootId, StandardCharsets.US_ASCII).strip();
        } catch (IOException notLinux) {
            return UUID.randomUUID().toString();
        }
        try {
            if (SHIFTED.matcher(Files.readString(timeNamespace, StandardCharsets.US_ASCII))
                    .find()) {
                return machine + "-" + UUID.randomUUID();
            }
        } catch (IOException olderKernel) {
            // A kernel without time namespaces shifts nothing.
            return machine;
        }
        return machine;
    }
}
