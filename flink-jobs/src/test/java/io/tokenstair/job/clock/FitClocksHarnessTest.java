package io.tokenstair.job.clock;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.event.ClockSampled;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.job.KeyedRun;
import io.tokenstair.job.source.RawRecord;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The operator around the fitting: whatever the arrival, and however often it is restored, it makes the same segments. */
public class FitClocksHarnessTest {
    private static final long LATENESS_MILLIS = 2_000;

    /** Samples of all joined clocks of the fleet, over a step of one. */
    public static List<LoggedEvent> samples() {
        return new ClockFleet()
                .idle(70 * ClockFleet.SECOND, true).events.stream()
                        .filter(event -> event.event() instanceof ClockSampled)
                        .toList();
    }

    /** Events as the operator gets them. */
    public static List<ClockRecord> records(List<LoggedEvent> events) {
        List<ClockRecord> records = new ArrayList<>();
        for (int i = 0; i < events.size(); i++) {
            records.add(ClockRecord.of(RawRecord.of(EventCodec.encode(events.get(i)), "partition-0000", i)));
        }
        return records;
    }

    /** The operator. */
    public static KeyedRun<ClockRecord, PublishedSegment> operator(boolean sortedInput) {
        return new KeyedRun<>(
                () -> new FitClocks(sortedInput, true), record -> FitClocks.KEY, record -> record.coarseEpochMillis);
    }

    private static List<String> expected() {
        return Segments.of(samples()).published.stream()
                .map(PublishedSegment::toString)
                .toList();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2})
    void arrivalOrderWithinTheLatenessBoundMakesNoDifference(long seed) throws Exception {
        Random random = new Random(seed);
        KeyedRun<ClockRecord, PublishedSegment> operator = operator(false);

        assertThat(operator.run(operator.late(records(samples()), LATENESS_MILLIS, random), random, 0))
                .isEqualTo(expected());
    }

    @ParameterizedTest
    @ValueSource(longs = {3, 4})
    void aRestoreMakesNoDifference(long seed) throws Exception {
        Random random = new Random(seed);
        KeyedRun<ClockRecord, PublishedSegment> operator = operator(false);

        assertThat(operator.run(operator.late(records(samples()), LATENESS_MILLIS, random), random, 100))
                .isEqualTo(expected());
    }

    @ParameterizedTest
    @ValueSource(longs = {5})
    void batchSaysTheSame(long seed) throws Exception {
        List<ClockRecord> records = new ArrayList<>(records(samples()));
        // Batch sorts by event time and leaves ties as they fall.
        Collections.shuffle(records, new Random(seed));
        records.sort(Comparator.comparingLong(record -> record.coarseEpochMillis));
        List<String> said = new ArrayList<>();
        KeyedRun<ClockRecord, PublishedSegment> operator = operator(true);
        var harness = operator.harness(null);
        for (ClockRecord record : records) {
            harness.processElement(record, record.coarseEpochMillis);
        }
        operator.finish(harness, said);

        assertThat(said).isEqualTo(expected());
    }
}
