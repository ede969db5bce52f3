package io.tokenstair.bench;

import io.tokenstair.event.ClockSampled;
import io.tokenstair.event.EngineConfigured;
import io.tokenstair.event.Event;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.HandleAnnounced;
import io.tokenstair.event.HostSampled;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.Phase;
import io.tokenstair.event.RequestFinished;
import io.tokenstair.event.RequestQueued;
import io.tokenstair.event.SequenceRows;
import io.tokenstair.event.StepCompleted;
import io.tokenstair.event.wire.EventCodec;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** One engine of a {@link Fleet}: steps on demand, with a clock of its own. */
final class SyntheticEngine {
    private static final long START_EPOCH_MILLIS = 1_780_000_000_000L;
    private static final long CLOCK_START_NANOS = 5_000_000_000_000L;
    private static final long GAP_NANOS = 150_000;
    private static final long FIXED_NANOS = 12_000_000;
    private static final long SEQUENCE_NANOS = 100_000;
    private static final double RESIDENT_NANOS = 100;
    private static final long PROMPT_NANOS = 6_000;
    private static final long CLOCK_SAMPLE_STEPS = 400;
    private static final long HOST_SAMPLE_STEPS = 4;
    private static final long OFFSET_NANOS = START_EPOCH_MILLIS * 1_000_000 - CLOCK_START_NANOS;

    private final int number;
    private final String engineId;
    private final String collectorId;
    private final String clockId;
    private final boolean hostSamples;
    private final SplittableRandom random;

    private final int[] handle;
    private final int[] made;
    private final int[] wanted;
    private final int[] prompt;
    private final String[] names;
    private int nextHandle = 1;
    private long sequence;
    private long steps;
    private long endNanos;
    private long nextEndNanos;

    SyntheticEngine(int number, int seats, boolean hostSamples) {
        this.number = number;
        this.engineId = "engine-" + number;
        this.collectorId = "vllm/" + engineId;
        this.clockId = "monotonic/" + engineId;
        this.hostSamples = hostSamples;
        this.random = new SplittableRandom(number);
        this.handle = new int[seats];
        this.made = new int[seats];
        this.wanted = new int[seats];
        this.prompt = new int[seats];
        this.names = new String[seats];
        this.endNanos = CLOCK_START_NANOS + random.nextLong(20_000_000);
        this.nextEndNanos = endNanos;
    }

    int number() {
        return number;
    }

    long steps() {
        return steps;
    }

    long nextEndNanos() {
        return nextEndNanos;
    }

    /** Makes the next step and appends its records. */
    void step(List<byte[]> records) {
        if (steps == 0) {
            add(
                    records,
                    new EngineConfigured(
                            engineId,
                            0,
                            "vllm",
                            "0.11.0",
                            8192L,
                            handle.length,
                            100_000L,
                            16,
                            "fcfs",
                            false,
                            null,
                            "m"));
        }
        if (steps % CLOCK_SAMPLE_STEPS == 0) {
            add(
                    records,
                    new ClockSampled(clockId, "wall", endNanos, endNanos + OFFSET_NANOS, endNanos, 100_000L, engineId));
        }
        List<HandleAnnounced> announced = new ArrayList<>();
        for (int seat = 0; seat < handle.length; seat++) {
            if (names[seat] == null) {
                announced.add(seat(seat, records));
            }
        }
        int[] first = made.clone();
        int[] tokens = new int[handle.length];
        int[] context = new int[handle.length];
        int[] scheduled = new int[handle.length];
        byte[] phase = new byte[handle.length];
        int[] cached = new int[handle.length];
        int[] preemptions = new int[handle.length];
        long[] wait = new long[handle.length];
        long resident = 0;
        long prompts = 0;
        for (int seat = 0; seat < handle.length; seat++) {
            boolean prefill = made[seat] == 0;
            tokens[seat] = 1;
            context[seat] = prompt[seat] + made[seat];
            scheduled[seat] = prefill ? prompt[seat] : 1;
            phase[seat] = (byte) (prefill ? Phase.PREFILL : Phase.DECODE).code();
            cached[seat] = prefill ? 0 : SequenceRows.ABSENT;
            wait[seat] = SequenceRows.ABSENT;
            resident += prefill ? 0 : context[seat];
            prompts += prefill ? prompt[seat] : 0;
        }
        double ideal = FIXED_NANOS
                + (double) SEQUENCE_NANOS * handle.length
                + RESIDENT_NANOS * resident
                // A fleet that starts has its prompts behind it: only replacements are computed.
                + (steps == 0 ? 0 : (double) PROMPT_NANOS * prompts);
        long start = endNanos + GAP_NANOS;
        endNanos = start + (long) (ideal * (1 + 0.02 * (random.nextDouble() - 0.5)));
        SequenceRows rows =
                new SequenceRows(handle.clone(), first, tokens, context, scheduled, phase, cached, preemptions, wait);
        add(
                records,
                new StepCompleted(
                        engineId,
                        0,
                        steps,
                        start,
                        start + 400_000,
                        endNanos - 600_000,
                        endNanos,
                        null,
                        null,
                        null,
                        null,
                        null,
                        null,
                        handle.length,
                        0,
                        (resident + prompts) / 16,
                        100_000L,
                        null,
                        null,
                        announced,
                        rows));
        for (int seat = 0; seat < handle.length; seat++) {
            made[seat]++;
            if (made[seat] == wanted[seat]) {
                add(records, new RequestFinished(engineId, 0, names[seat], "length", (long) made[seat], steps));
                names[seat] = null;
            }
        }
        steps++;
        if (hostSamples && steps % HOST_SAMPLE_STEPS == 0) {
            long elapsed = endNanos - CLOCK_START_NANOS;
            add(records, new HostSampled("host", "engine", "core", elapsed, elapsed / 1000, null, engineId));
            add(records, new HostSampled("host", "worker", "core", elapsed, elapsed / 1000, null, engineId));
        }
        nextEndNanos = endNanos + FIXED_NANOS + SEQUENCE_NANOS * handle.length;
    }

    private HandleAnnounced seat(int seat, List<byte[]> records) {
        handle[seat] = nextHandle++;
        names[seat] = String.format("cmpl-e%d-r%d-0-%08x", number, handle[seat], random.nextInt());
        made[seat] = 0;
        prompt[seat] = random.nextInt(20) == 0 ? 1500 + random.nextInt(1000) : 64 + random.nextInt(192);
        // The first requests of an engine are caught at any point of their lives.
        wanted[seat] = steps == 0 ? 1 + random.nextInt(800) : 200 + random.nextInt(600);
        add(
                records,
                new RequestQueued(
                        engineId, 0, handle[seat], names[seat], null, (long) prompt[seat], (long) wanted[seat], null));
        return new HandleAnnounced(handle[seat], names[seat]);
    }

    private void add(List<byte[]> records, Event event) {
        long epochMillis = (endNanos + OFFSET_NANOS) / 1_000_000;
        records.add(EventCodec.encode(
                new LoggedEvent(new EventHeader(collectorId, 1, sequence++, clockId, endNanos, epochMillis), event)));
    }
}
