package io.tokenstair.simulate;

import io.tokenstair.event.ClockSampled;
import java.util.ArrayList;
import java.util.List;

/** The machines of a run and their clocks, and the readings that the engine's collector takes of them. */
final class Hosts {
    static final String ENGINE_HOST = "host-a";
    static final String STEPS_COLLECTOR = "sim-steps";

    private static final long START_EPOCH_NANOS = 1_790_000_000_000_000_000L;
    private static final long PROBE_EVERY_NANOS = 100_000_000L;
    private static final long WALL_EVERY_NANOS = 1_000_000_000L;
    private static final long PROBES_BEFORE_NANOS = 1_000_000_000L;
    private static final long LAN_NANOS = 12_000;
    private static final double LAN_QUEUE_NANOS = 6_000;
    private static final long DEVICE_READ_NANOS = 450;
    private static final long WALL_READ_NANOS = 45;

    final HostClock engine;
    final HostClock gateway;
    final HostClock client;
    private final List<HostClock> devices = new ArrayList<>();
    final HostClock wall;

    private final List<Fault> faults;
    private final RandomStream stream;

    Hosts(Settings settings, RandomStream stream) {
        this.faults = settings.faults;
        this.stream = stream;
        double drift = settings.clockDriftPartsPerMillion;
        engine = host("monotonic@host-a", 1, drift, List.of());
        // What disturbs a clock disturbs the gateway's: its stamps meet the engine's in every delivery.
        gateway = host(
                "monotonic@host-b",
                2,
                -drift,
                settings.faults.stream()
                        .filter(fault -> fault.kind() == FaultKind.CLOCK_STEP || fault.kind() == FaultKind.CLOCK_DRIFT)
                        .toList());
        client = host("monotonic@host-c", 3, 0.4 * drift, List.of());
        for (int rank = 0; rank < settings.engines; rank++) {
            EngineName name = new EngineName(rank);
            devices.add(new HostClock(
                    "globaltimer@" + name.deviceId(),
                    7_000_000_000_000_000L + rank * 13_000_000_000_000L,
                    1.7 * drift,
                    32,
                    name.stream(stream.named("gpu")),
                    List.of()));
        }
        wall = new HostClock("wall@host-a", START_EPOCH_NANOS, 0, 1, stream.named("wall"), List.of());
    }

    /** The clock of an engine's device. */
    HostClock device(EngineName name) {
        return devices.get(name.rank());
    }

    private HostClock host(String id, int number, double drift, List<Fault> disturbances) {
        RandomStream own = stream.named("host").numbered(number);
        long origin = own.between(0, 50_000_000_000_000L, 9_000_000_000_000_000L);
        return new HostClock(id, origin, drift, 1, own, disturbances);
    }

    /** Writes down what the engine's collector reads of clocks while a run lasts, its steps' clock against each other one. */
    void sample(EventLog log, long endNanos, boolean withDevice) {
        long number = 0;
        for (long now = -PROBES_BEFORE_NANOS; now <= endNanos; now += PROBE_EVERY_NANOS) {
            if (Math.floorMod(now, WALL_EVERY_NANOS) == 0) {
                read(log, wall, now, WALL_READ_NANOS, 0, 4 * number);
            }
            if (known(now)) {
                read(log, gateway, now + 10_000, LAN_NANOS, LAN_QUEUE_NANOS, 4 * number + 1);
            }
            read(log, client, now + 200_000, LAN_NANOS, LAN_QUEUE_NANOS, 4 * number + 2);
            if (withDevice) {
                for (int rank = 0; rank < devices.size(); rank++) {
                    read(log, devices.get(rank), now + 400_000 + rank * 10_000L, DEVICE_READ_NANOS, 30, 4 * number + 3);
                }
            }
            number++;
        }
    }

    private boolean known(long now) {
        for (Fault fault : faults) {
            if (fault.kind() == FaultKind.CLOCK_PATH && fault.activeAt(now)) {
                return false;
            }
        }
        return true;
    }

    private void read(EventLog log, HostClock remote, long now, long oneWayNanos, double queueNanos, long index) {
        RandomStream own = stream.named("probe");
        long there = oneWayNanos + (long) own.exponential(2 * index, queueNanos);
        long back = oneWayNanos + (long) own.exponential(2 * index + 1, queueNanos);
        log.add(
                STEPS_COLLECTOR,
                engine,
                now + there + back,
                new ClockSampled(
                        engine.id(),
                        remote.id(),
                        engine.read(now),
                        remote.read(now + there),
                        engine.read(now + there + back),
                        null,
                        new EngineName(0).engineId()));
    }

    /** The wall reading of an instant. */
    long epochNanos(long trueNanos) {
        return wall.read(trueNanos);
    }

    /** A stamp of the engine's clock. */
    long engineNanos(long trueNanos) {
        return engine.read(trueNanos);
    }
}
