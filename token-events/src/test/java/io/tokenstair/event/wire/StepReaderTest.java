package io.tokenstair.event.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.event.EventFixtures;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.EventKind;
import io.tokenstair.event.HandleAnnounced;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.Phase;
import io.tokenstair.event.SequenceRow;
import io.tokenstair.event.SequenceRows;
import io.tokenstair.event.StepCompleted;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class StepReaderTest {
    private static final int STEPS = 500;
    private static final int MUTATIONS_PER_STEP = 60;

    @Test
    void stepsOfOurOwnWriterAreRead() {
        for (int seed = 0; seed < STEPS; seed++) {
            LoggedEvent step = step(new Random(seed));

            assertThat(StepReader.read(EventCodec.encode(step)))
                    .as("seed %d", seed)
                    .isEqualTo(step);
        }
    }

    @Test
    void numbersOfOneAndTwoBytesStandInAnyOrder() {
        for (int seed = 0; seed < STEPS; seed++) {
            Random random = new Random(seed);
            int oneByte = 1 << random.nextInt(8);
            List<SequenceRow> rows = new ArrayList<>();
            for (int i = random.nextInt(80); i > 0; i--) {
                rows.add(new SequenceRow(
                        random.nextInt(1 << 15),
                        small(random, oneByte),
                        1,
                        small(random, oneByte),
                        small(random, oneByte),
                        Phase.DECODE,
                        null,
                        null,
                        null));
            }
            LoggedEvent step = withRows(step(random), SequenceRows.of(rows));

            assertThat(StepReader.read(EventCodec.encode(step)))
                    .as("seed %d", seed)
                    .isEqualTo(step);
        }
    }

    private static int small(Random random, int oneInSoMany) {
        return random.nextInt(oneInSoMany) == 0 ? random.nextInt(128) : 128 + random.nextInt((1 << 14) - 130);
    }

    @Test
    void whatAllRowsHaveAlikeIsTold() {
        List<SequenceRow> rows = new ArrayList<>();
        for (int i = 0; i < 70; i++) {
            rows.add(new SequenceRow(i, 3 * i, 1, 900 + i, 1, Phase.DECODE, null, null, null));
        }
        assertThat(onlyDecodes(rows)).isTrue();
        List<SequenceRow> others = List.of(
                new SequenceRow(80, 5, 2, 900, 1, Phase.DECODE, null, null, null),
                new SequenceRow(80, 5, 1, 900, 2, Phase.DECODE, null, null, null),
                new SequenceRow(80, 0, 1, 900, 1, Phase.PREFILL, null, null, null),
                new SequenceRow(80, 5, 1, 900, 1, Phase.DECODE, 0, null, null));
        for (SequenceRow other : others) {
            rows.set(40, other);
            assertThat(onlyDecodes(rows)).as("with %s", other).isFalse();
        }
        assertThat(onlyDecodes(List.of())).isFalse();
    }

    private static boolean onlyDecodes(List<SequenceRow> rows) {
        LoggedEvent read = StepReader.read(EventCodec.encode(withRows(step(new Random(1)), SequenceRows.of(rows))));
        return read != null
                && read.event() instanceof StepCompleted step
                && step.rows().onlyDecodes();
    }

    @Test
    void whateverItReadsTheGeneratedClassesReadTheSame() throws WireException {
        int read = 0;
        for (int seed = 0; seed < STEPS; seed++) {
            Random random = new Random(seed);
            byte[] bytes = EventCodec.encode(
                    seed % 2 == 0
                            ? step(random)
                            : new LoggedEvent(
                                    EventFixtures.randomHeader(seed),
                                    EventFixtures.random(EventKind.STEP_COMPLETED, seed)));
            for (int i = 0; i < MUTATIONS_PER_STEP; i++) {
                byte[] mutated = mutated(bytes, random);
                LoggedEvent found = StepReader.read(mutated);
                if (found != null) {
                    read++;
                    assertThat(EventCodec.decode(EventCodec.parse(mutated)))
                            .as("seed %d, mutation %d", seed, i)
                            .isEqualTo(found);
                }
            }
        }

        assertThat(read).isGreaterThan(STEPS * MUTATIONS_PER_STEP / 10);
    }

    @Test
    void aStepInPartsIsOneStep() throws WireException {
        Random random = new Random(3);
        for (int i = 0; i < STEPS; i++) {
            ByteArrayOutputStream joined = new ByteArrayOutputStream();
            joined.writeBytes(EventCodec.encode(step(random)));
            joined.writeBytes(EventCodec.encode(step(random)));
            byte[] bytes = joined.toByteArray();

            assertThat(StepReader.read(bytes)).isEqualTo(EventCodec.decode(EventCodec.parse(bytes)));
        }
    }

    @ParameterizedTest
    @EnumSource(value = EventKind.class, names = "STEP_COMPLETED", mode = EnumSource.Mode.EXCLUDE)
    void otherKindsAreLeftToTheGeneratedClasses(EventKind kind) {
        byte[] bytes = EventCodec.encode(new LoggedEvent(EventFixtures.header(1), EventFixtures.full(kind)));
        ByteArrayOutputStream behindAStep = new ByteArrayOutputStream();
        behindAStep.writeBytes(EventCodec.encode(step(new Random(1))));
        behindAStep.writeBytes(bytes);

        assertThat(StepReader.read(bytes)).isNull();
        assertThat(StepReader.read(behindAStep.toByteArray())).isNull();
    }

    /** A step as a collector may write it, from plain values to the largest there are. */
    private static LoggedEvent step(Random random) {
        List<SequenceRow> rows = random.nextBoolean() ? alike(random) : different(random);
        List<HandleAnnounced> announced = new ArrayList<>();
        for (int i = random.nextInt(3); i > 0; i--) {
            announced.add(new HandleAnnounced(random.nextInt(), "cmpl-" + random.nextInt()));
        }
        return new LoggedEvent(
                new EventHeader(
                        "vllm/engine-" + random.nextInt(9),
                        random.nextLong(),
                        random.nextInt(300),
                        "monotonic",
                        random.nextBoolean() ? random.nextLong() : null,
                        random.nextBoolean() ? random.nextLong() : null),
                new StepCompleted(
                        "engine-1",
                        random.nextInt(2),
                        random.nextLong(),
                        random.nextBoolean() ? random.nextLong() : null,
                        random.nextBoolean() ? random.nextLong() : null,
                        random.nextBoolean() ? random.nextLong() : null,
                        random.nextLong(),
                        random.nextBoolean() ? "mixed" : null,
                        random.nextBoolean() ? "full" : null,
                        random.nextBoolean() ? random.nextInt() : null,
                        random.nextBoolean() ? random.nextLong() : null,
                        random.nextBoolean() ? random.nextLong() : null,
                        random.nextBoolean() ? random.nextLong() : null,
                        random.nextBoolean() ? random.nextInt() : null,
                        random.nextBoolean() ? random.nextInt() : null,
                        random.nextBoolean() ? random.nextLong() : null,
                        random.nextBoolean() ? random.nextLong() : null,
                        random.nextBoolean() ? random.nextLong() : null,
                        random.nextBoolean() ? random.nextLong() : null,
                        announced,
                        SequenceRows.of(rows)));
    }

    private static LoggedEvent withRows(LoggedEvent step, SequenceRows rows) {
        StepCompleted of = (StepCompleted) step.event();
        return new LoggedEvent(
                step.header(),
                new StepCompleted(
                        of.engineId(),
                        of.dpRank(),
                        of.stepId(),
                        of.scheduleStartNanos(),
                        of.scheduleEndNanos(),
                        of.updateStartNanos(),
                        of.updateEndNanos(),
                        of.forwardMode(),
                        of.graphMode(),
                        of.paddedBatchCount(),
                        of.decodeTokens(),
                        of.prefillTokens(),
                        of.recomputeTokens(),
                        of.runningCount(),
                        of.waitingCount(),
                        of.kvUsedBlocksCount(),
                        of.kvTotalBlocksCount(),
                        of.kvBatchSequence(),
                        of.probeNanos(),
                        of.announcements(),
                        rows));
    }

    /** Rows that have little in common. */
    private static List<SequenceRow> different(Random random) {
        List<SequenceRow> rows = new ArrayList<>();
        for (int i = random.nextInt(80); i > 0; i--) {
            rows.add(new SequenceRow(
                    random.nextInt(),
                    random.nextInt(3) == 0 ? null : size(random),
                    size(random),
                    size(random),
                    size(random),
                    Phase.ofCode(1 + random.nextInt(4)),
                    random.nextInt(3) == 0 ? size(random) : null,
                    random.nextInt(3) == 0 ? size(random) : null,
                    random.nextInt(3) == 0 ? random.nextLong(Long.MAX_VALUE) : null));
        }
        return rows;
    }

    /** Rows of a step that only decodes, most columns of which have one value; also more than are shared. */
    private static List<SequenceRow> alike(Random random) {
        Integer first = fewValues(random);
        Integer cached = fewValues(random);
        Integer preemptions = fewValues(random);
        Long wait = random.nextInt(4) == 0 ? Long.valueOf(random.nextInt(2)) : null;
        List<SequenceRow> rows = new ArrayList<>();
        for (int i = random.nextInt(20) == 0 ? 600 : random.nextInt(80); i > 0; i--) {
            rows.add(new SequenceRow(
                    random.nextInt(), first, 1, size(random), 1, Phase.DECODE, cached, preemptions, wait));
        }
        return rows;
    }

    private static @Nullable Integer fewValues(Random random) {
        return random.nextBoolean() ? Integer.valueOf(random.nextInt(3)) : null;
    }

    private static int size(Random random) {
        return random.nextInt(1 << random.nextInt(31)) & (Integer.MAX_VALUE - 1);
    }

    private static byte[] mutated(byte[] original, Random random) {
        byte[] bytes = original.clone();
        int at = random.nextInt(bytes.length);
        switch (random.nextInt(4)) {
            case 0 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
            case 1 -> bytes[at] = (byte) random.nextInt(256);
            case 2 -> bytes = Arrays.copyOf(bytes, at);
            default -> {
                bytes = Arrays.copyOf(bytes, bytes.length + 1);
                System.arraycopy(original, at, bytes, at + 1, original.length - at);
                bytes[at] = (byte) (random.nextInt(256) | 0x80);
            }
        }
        return bytes;
    }
}
