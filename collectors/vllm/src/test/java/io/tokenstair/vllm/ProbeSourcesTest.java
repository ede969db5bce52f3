package io.tokenstair.vllm;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.collect.live.KvMessages;
import io.tokenstair.event.ClockSampled;
import io.tokenstair.event.CollectorGap;
import io.tokenstair.event.EngineConfigured;
import io.tokenstair.event.Event;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.HostPaused;
import io.tokenstair.event.KvBlocksEvicted;
import io.tokenstair.event.KvBlocksStored;
import io.tokenstair.event.KvLookup;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.Phase;
import io.tokenstair.event.Rejected;
import io.tokenstair.event.RequestFinished;
import io.tokenstair.event.RequestPreempted;
import io.tokenstair.event.RequestQueued;
import io.tokenstair.event.StepCompleted;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.foreign.ForeignFormatException;
import io.tokenstair.vllm.RecordedMessages.Told;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The messages of a probe in real vLLM engines on CPU, 0.32.0 and 0.19.1: 8 requests of 250 tokens in 75 blocks, then 3 of 40 tokens,
 * under the newer one twice.
 */
class ProbeSourcesTest {
    private static final String RECORDED = "probe-vllm-0.32.0.bin.gz";

    private static <T> List<T> only(List<Told> told, Class<T> type) {
        return told.stream()
                .map(Told::event)
                .filter(type::isInstance)
                .map(type::cast)
                .toList();
    }

    private static final String OLDER = "probe-vllm-0.19.1.bin.gz";

    /** With KV events that the probe carries, and steps told as like earlier ones. */
    private static final String CARRIED = "probe-vllm-0.32.0-carried.bin.gz";

    private static final String CARRIED_OLDER = "probe-vllm-0.19.1-carried.bin.gz";

    @ParameterizedTest
    @ValueSource(strings = {RECORDED, OLDER, CARRIED, CARRIED_OLDER})
    void everyTokenOfEveryRequestIsThereOnce(String recorded) throws Exception {
        List<Told> told = RecordedMessages.of(recorded).events();
        int requests = recorded.equals(OLDER) ? 11 : 14;

        assertThat(only(told, Rejected.class)).isEmpty();
        assertThat(only(told, CollectorGap.class)).isEmpty();
        Map<String, Set<Integer>> tokens = new HashMap<>();
        Map<Integer, String> handles = new HashMap<>();
        for (RequestQueued queued : only(told, RequestQueued.class)) {
            handles.put(queued.requestHandle(), queued.engineRequestId());
        }
        for (StepCompleted step : only(told, StepCompleted.class)) {
            step.announcements()
                    .forEach(announced -> handles.put(announced.requestHandle(), announced.engineRequestId()));
            for (int i = 0; i < step.rows().count(); i++) {
                String id = handles.get(step.rows().requestHandle(i));
                assertThat(id).isNotNull();
                for (int t = 0; t < step.rows().tokenCount(i); t++) {
                    assertThat(tokens.computeIfAbsent(id, unused -> new HashSet<>())
                                    .add(step.rows().firstTokenIndex(i) + t))
                            .as("token twice of %s", id)
                            .isTrue();
                }
            }
        }
        assertThat(tokens).hasSize(requests);
        tokens.forEach((id, indices) -> {
            int expected = id.startsWith("cmpl-press") ? 250 : 40;
            assertThat(indices).as(id).hasSize(expected).contains(0, expected - 1);
        });
        assertThat(only(told, RequestFinished.class)).hasSize(requests).allSatisfy(finished -> {
            assertThat(finished.endReason()).isEqualTo("length");
            assertThat(finished.outputTokens())
                    .isEqualTo(finished.engineRequestId().startsWith("cmpl-press") ? 250L : 40L);
        });
    }

    /**
     * 8 requests of 120 tokens, one that its client left, one with two answers of 30, then two of 30: with two steps in flight, and with
     * up to three guessed tokens a step.
     */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "probe-vllm-0.32.0-async.bin.gz",
                "probe-vllm-0.32.0-async-carried.bin.gz",
                "probe-vllm-0.32.0-ngram.bin.gz"
            })
    void everyTokenIsThereOnceWhereStepsOverlapAndWhereOneStepMakesSeveral(String recorded) throws Exception {
        List<Told> told = RecordedMessages.of(recorded).events();

        assertThat(only(told, Rejected.class)).isEmpty();
        assertThat(only(told, CollectorGap.class)).isEmpty();
        Map<Integer, String> handles = new HashMap<>();
        only(told, RequestQueued.class)
                .forEach(queued -> handles.put(queued.requestHandle(), queued.engineRequestId()));
        Map<String, List<Integer>> tokens = new HashMap<>();
        List<StepCompleted> steps = only(told, StepCompleted.class);
        boolean several = false;
        boolean overlap = false;
        for (int s = 0; s < steps.size(); s++) {
            StepCompleted step = steps.get(s);
            step.announcements()
                    .forEach(announced -> handles.put(announced.requestHandle(), announced.engineRequestId()));
            overlap |= s > 0 && step.scheduleStartNanos() < steps.get(s - 1).updateEndNanos();
            for (int i = 0; i < step.rows().count(); i++) {
                several |= step.rows().tokenCount(i) > 1;
                for (int t = 0; t < step.rows().tokenCount(i); t++) {
                    tokens.computeIfAbsent(handles.get(step.rows().requestHandle(i)), unused -> new ArrayList<>())
                            .add(step.rows().firstTokenIndex(i) + t);
                }
            }
        }
        assertThat(overlap).isEqualTo(recorded.contains("async"));
        assertThat(several).isEqualTo(recorded.contains("ngram"));
        assertThat(tokens).hasSize(13);
        tokens.forEach((id, indices) -> {
            assertThat(indices)
                    .as(id)
                    .isEqualTo(IntStream.range(0, indices.size()).boxed().toList());
            if (id.contains("cmpl-gone")) {
                assertThat(indices).hasSizeBetween(20, 399);
            } else {
                assertThat(indices).as(id).hasSize(id.contains("cmpl-rep") ? 120 : 30);
            }
        });
        assertThat(only(told, RequestFinished.class)).hasSize(13).allSatisfy(finished -> {
            assertThat(finished.endReason())
                    .isEqualTo(finished.engineRequestId().contains("cmpl-gone") ? "aborted" : "length");
            assertThat(finished.outputTokens())
                    .isEqualTo(tokens.get(finished.engineRequestId()).size());
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {RECORDED, OLDER, CARRIED, CARRIED_OLDER})
    void preemptionsNameWhoWantedTheBlocksAndWhatWasLost(String recorded) throws Exception {
        List<Told> told = RecordedMessages.of(recorded).events();

        assertThat(only(told, RequestPreempted.class)).isNotEmpty().allSatisfy(preempted -> {
            assertThat(preempted.reason()).isEqualTo("kv_blocks_exhausted");
            assertThat(preempted.wantedByEngineRequestId()).startsWith("cmpl-");
            assertThat(preempted.discardedTokens()).isPositive();
            assertThat(preempted.freeBlocksCount()).isZero();
        });
        long resumed = only(told, StepCompleted.class).stream()
                .flatMap(step -> IntStream.range(0, step.rows().count())
                        .filter(i -> step.rows().phaseCode(i) == Phase.RESUMED.code())
                        .boxed())
                .count();
        assertThat(resumed).isEqualTo(only(told, RequestPreempted.class).size());
    }

    @ParameterizedTest
    @ValueSource(strings = {RECORDED, OLDER, CARRIED, CARRIED_OLDER})
    void evictionsSayWhatTheyMadeRoomFor(String recorded) throws Exception {
        List<Told> told = RecordedMessages.of(recorded).events();

        List<KvBlocksEvicted> evicted = only(told, KvBlocksEvicted.class);
        assertThat(evicted).isNotEmpty().allSatisfy(eviction -> {
            assertThat(eviction.reason()).isIn("admission", "capacity", "context-jump");
            assertThat(eviction.blockHashes()).isNotEmpty();
            assertThat(eviction.reuseCount()).hasSameSizeAs(eviction.blockHashes());
            assertThat(eviction.idleNanos()).allMatch(idle -> idle > 0);
            assertThat(eviction.wantedByEngineRequestId()).startsWith("cmpl-");
        });
        assertThat(evicted).extracting(KvBlocksEvicted::reason).contains("admission", "capacity");
    }

    @Test
    void limitsClocksLookupsAndPausesAreThere() throws Exception {
        List<Told> told = RecordedMessages.of(RECORDED).events();

        assertThat(only(told, EngineConfigured.class)).singleElement().satisfies(limits -> {
            assertThat(limits.engineVersion()).isEqualTo("0.32.0");
            assertThat(limits.tokenBudgetTokens()).isEqualTo(512);
            assertThat(limits.maxSequencesCount()).isEqualTo(128);
            assertThat(limits.kvTotalBlocksCount()).isEqualTo(75);
            assertThat(limits.blockSizeTokens()).isEqualTo(32);
            assertThat(limits.tensorParallelCount()).isEqualTo(1);
            assertThat(limits.asyncScheduling()).isFalse();
        });
        assertThat(only(told, ClockSampled.class)).isNotEmpty().allSatisfy(sample -> {
            assertThat(sample.beforeNanos()).isLessThanOrEqualTo(sample.afterNanos());
            assertThat(sample.afterNanos() - sample.beforeNanos()).isLessThan(1_000_000_000L);
        });
        assertThat(only(told, KvLookup.class)).isNotEmpty();
        assertThat(only(told, HostPaused.class))
                .allSatisfy(paused -> assertThat(paused.endNanos()).isGreaterThan(paused.startNanos()));
        assertThat(only(told, StepCompleted.class)).allSatisfy(step -> {
            assertThat(step.kvUsedBlocksCount()).isBetween(0L, 75L);
            assertThat(step.graphMode()).isEqualTo("eager");
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {RECORDED, OLDER, CARRIED, CARRIED_OLDER})
    void everyEventCanBeWrittenToALog(String recorded) throws Exception {
        long sequence = 0;
        for (Told told : RecordedMessages.of(recorded).events()) {
            EventHeader header =
                    new EventHeader(told.collectorId(), 1, sequence++, told.clockId(), told.clockNanos(), 1L);
            byte[] bytes = EventCodec.encode(new LoggedEvent(header, told.event()));
            assertThat(EventCodec.decode(bytes).event()).isEqualTo(told.event());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"0.32.0", "0.19.1"})
    void carriedKvEventsAreThoseThatThePublisherWouldHaveSent(String version) throws Exception {
        List<Told> told =
                RecordedMessages.of("probe-vllm-" + version + "-carried.bin.gz").events();
        List<Event> published = new ArrayList<>();
        KvMessages messages = new KvMessages(
                "kv", "vllm-0", "kv", "clock", (collector, clock, nanos, event) -> published.add(event), rank -> null);
        for (byte[][] message :
                RecordedMessages.of("kv-vllm-" + version + "-carried.bin.gz").messages()) {
            messages.published(List.of(new byte[0], message[0], message[1]), 0);
        }
        assertThat(messages.wanted(false, 0)).isEqualTo(-1);
        messages.settle(0);

        List<Event> carried = told.stream()
                .map(Told::event)
                .filter(event -> event instanceof KvBlocksStored || event instanceof KvBlocksEvicted)
                .toList();
        assertThat(carried.stream().map(ProbeSourcesTest::withoutReasons).toList())
                .containsExactlyElementsOf(published);
        assertThat(published).hasAtLeastOneElementOfType(KvBlocksStored.class);
        assertThat(published).hasAtLeastOneElementOfType(KvBlocksEvicted.class);
        assertThat(only(told, StepCompleted.class).stream()
                        .map(StepCompleted::kvBatchSequence)
                        .filter(Objects::nonNull))
                .containsExactlyElementsOf(
                        LongStream.range(0, messages.counts()[0]).boxed().toList());
    }

    private static Event withoutReasons(Event event) {
        return event instanceof KvBlocksEvicted evicted
                ? new KvBlocksEvicted(
                        evicted.engineId(),
                        evicted.dpRank(),
                        evicted.batchSequence(),
                        evicted.batchEpochNanos(),
                        evicted.eventIndex(),
                        evicted.medium(),
                        evicted.blockHashes(),
                        evicted.allCleared(),
                        null,
                        null,
                        List.of(),
                        List.of())
                : event;
    }

    @Test
    void stepsLikeOneThatIsNotKnownAreRefusedAndSaidSo() throws Exception {
        RecordedMessages recorded = RecordedMessages.of(CARRIED);
        byte[][] steps = recorded.messages().stream()
                .filter(message -> records(message).stream().anyMatch(ProbeRecord.SameStep.class::isInstance))
                .findFirst()
                .orElseThrow();
        List<ProbeRecord> all = records(steps);
        long same = all.stream().filter(ProbeRecord.SameStep.class::isInstance).count();
        EngineSteps known = new EngineSteps("vllm-0", 0, (nanos, event) -> {}, null);

        assertThat(all.stream()
                        .filter(ProbeRecord.SameStep.class::isInstance)
                        .filter(step -> refused(known, (ProbeRecord.SameStep) step)))
                .hasSize((int) same);
        for (ProbeRecord record : all) {
            if (record instanceof ProbeRecord.Step step) {
                known.step(step);
            } else if (record instanceof ProbeRecord.SameStep step) {
                assertThat(refused(known, step)).isFalse();
            }
        }
    }

    private static List<ProbeRecord> records(byte[][] message) {
        try {
            return ProbeMessage.parse(message[0], message[1]).records();
        } catch (ForeignFormatException unreadable) {
            throw new AssertionError(unreadable);
        }
    }

    private static boolean refused(EngineSteps steps, ProbeRecord.SameStep step) {
        try {
            steps.sameStep(step);
            return false;
        } catch (ForeignFormatException unknown) {
            return true;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {RECORDED, CARRIED})
    void aLostMessageIsAGapOfItsRecordsAndTheTokensBehindItKeepTheirPlaces(String name) throws Exception {
        RecordedMessages recorded = RecordedMessages.of(name);
        List<byte[][]> without = new ArrayList<>();
        ProbeEnvelope lost = null;
        int steps = 0;
        for (byte[][] message : recorded.messages()) {
            ProbeMessage read = ProbeMessage.parse(message[0], message[1]);
            boolean engine = read.records().stream().anyMatch(ProbeRecord.Step.class::isInstance);
            if (engine && ++steps == 3) {
                lost = read.envelope();
            } else {
                without.add(message);
            }
        }
        assertThat(lost).isNotNull();

        List<Told> told = new RecordedMessages(without).events();

        assertThat(only(told, CollectorGap.class))
                .containsExactly(new CollectorGap(
                        lost.source(), lost.firstSequence(), lost.firstSequence() + lost.recordCount() - 1));
        assertThat(only(told, Rejected.class)).isEmpty();
        Map<Long, StepCompleted> whole = new HashMap<>();
        only(recorded.events(), StepCompleted.class).forEach(step -> whole.put(step.stepId(), step));
        for (StepCompleted step : only(told, StepCompleted.class)) {
            StepCompleted same = whole.get(step.stepId());
            assertThat(step.rows().count()).isEqualTo(same.rows().count());
            for (int i = 0; i < step.rows().count(); i++) {
                assertThat(step.rows().firstTokenIndex(i)).isEqualTo(same.rows().firstTokenIndex(i));
            }
        }
    }
}
