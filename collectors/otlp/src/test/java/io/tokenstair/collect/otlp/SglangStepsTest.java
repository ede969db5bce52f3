package io.tokenstair.collect.otlp;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.proto.trace.v1.Span;
import io.tokenstair.event.RequestFinished;
import io.tokenstair.event.RequestPreempted;
import io.tokenstair.event.RequestQueued;
import io.tokenstair.event.StepCompleted;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Traces laid out as SGLang lays them out: a root per request, threads in it, slices in those. No engine recorded these: its schema is public. */
class SglangStepsTest {
    private static final long MILLI = 1_000_000L;

    private final List<Span.Builder> spans = new ArrayList<>();
    private int nextId = 1;

    private String id() {
        return String.format("%016x", nextId++);
    }

    private Span.Builder add(String name, String parent, double fromMillis, double toMillis) {
        Span.Builder span = Otlp.span(name, id())
                .setStartTimeUnixNano(Otlp.START + Math.round(fromMillis * MILLI))
                .setEndTimeUnixNano(Otlp.START + Math.round(toMillis * MILLI));
        if (parent != null) {
            span.setParentSpanId(Otlp.id(parent));
        }
        spans.add(span);
        return span;
    }

    private static String idOf(Span.Builder span) {
        return java.util.HexFormat.of().formatHex(span.getSpanId().toByteArray());
    }

    /** A request: its root and the thread that its slices are in. */
    private String request(String rid, long prompt, long cached, long output, double from, double to) {
        Span.Builder root = add("Req " + rid, null, from, to)
                .addAttributes(Otlp.text("rid", rid))
                .addAttributes(Otlp.text("module", "sglang::request"))
                .addAttributes(Otlp.whole("gen_ai.usage.prompt_tokens", prompt))
                .addAttributes(Otlp.whole("gen_ai.usage.cached_tokens", cached))
                .addAttributes(Otlp.whole("gen_ai.usage.completion_tokens", output))
                .addAttributes(Otlp.text("gen_ai.response.finish_reasons", "length"));
        return thread(idOf(root), 0);
    }

    private String thread(String root, int tpRank) {
        return idOf(add("scheduler [TP " + tpRank + "] (host:abcdef01 | pid:7)", root, 0, 1)
                .addAttributes(Otlp.whole("tp_rank", tpRank))
                .addAttributes(Otlp.text("thread_label", "scheduler")));
    }

    private Span.Builder slice(String name, String thread, double from, double to, String batch, int size) {
        return add(name, thread, from, to)
                .addEvents(Span.Event.newBuilder()
                        .setName("schedule")
                        .setTimeUnixNano(Otlp.START + Math.round((from + 0.1) * MILLI))
                        .addAttributes(Otlp.text("bid", batch))
                        .addAttributes(Otlp.whole("batch_size", size))
                        .addAttributes(Otlp.text("forward_mode", name.startsWith("decode") ? "decode" : "prefill")));
    }

    private List<TimedEvent> told(SglangSteps steps) {
        OtlpBatch batch = Otlp.decoded(
                new OtlpDecoder(true), Otlp.traces("sglang", "sglang server", spans.toArray(Span.Builder[]::new)));
        assertThat(batch.rejected()).isZero();
        steps.accept(batch.events());
        List<TimedEvent> told = new ArrayList<>();
        steps.finish(told::add);
        return told;
    }

    private static <T> List<T> all(List<TimedEvent> told, Class<T> kind) {
        return told.stream()
                .map(TimedEvent::event)
                .filter(kind::isInstance)
                .map(kind::cast)
                .toList();
    }

    private void twoRequests() {
        String a = request("a", 100, 40, 4, 0, 70);
        add("prefill_waiting", a, 1, 5);
        slice("prefill_forward", a, 5, 25, "p1", 1);
        String b = request("b", 50, 0, 3, 10, 72);
        add("prefill_waiting", b, 11, 25);
        slice("prefill_forward", b, 25, 40, "p2", 1);
        double end = 40;
        // One batch id over all decode steps; ends differ by some µs, as each request is stamped by itself.
        for (int i = 0; i < 3; i++) {
            slice("decode_loop", a, i == 0 ? 25 : end, end + 10, "d", 2).addAttributes(Otlp.whole("decode_ct", i));
            if (i < 2) {
                slice("decode_loop", b, end, end + 10.02, "d", 2).addAttributes(Otlp.whole("decode_ct", i));
            }
            end += 10;
        }
    }

    /** The spans as they come live: each when it has ended, a root and its threads last of its request; drained after each. */
    private List<TimedEvent> toldLive(SglangSteps steps) {
        List<Span.Builder> arriving = new ArrayList<>(spans);
        arriving.sort(Comparator.comparingLong((Span.Builder span) -> arrival(span)));
        List<TimedEvent> told = new ArrayList<>();
        OtlpDecoder decoder = new OtlpDecoder();
        for (Span.Builder span : arriving) {
            steps.accept(Otlp.decoded(decoder, Otlp.traces("sglang", "sglang server", span))
                    .events());
            steps.drain(arrival(span) + SglangSteps.SETTLE_NANOS, told::add);
        }
        steps.drain(Otlp.START + 1_000 * MILLI + SglangSteps.SETTLE_NANOS, told::add);
        return told;
    }

    /** Slices are sent when they end; what holds them when their request has ended. */
    private static long arrival(Span.Builder span) {
        boolean holds = span.getAttributesList().stream()
                .anyMatch(attribute ->
                        attribute.getKey().equals("rid") || attribute.getKey().equals("thread_label"));
        return holds ? Otlp.START + 500 * MILLI : span.getEndTimeUnixNano();
    }

    @Test
    void liveTheSameIsToldAsSoonAsNoRequestIsOpenBeforeIt() {
        twoRequests();
        // Another rank traces the same, and a request whose root never comes holds nothing up for long.
        String second = thread(idOf(spans.get(0)), 1);
        slice("decode_loop", second, 40, 50, "d", 2);
        List<TimedEvent> files = told(new SglangSteps());
        SglangSteps steps = new SglangSteps(1_000);
        List<TimedEvent> live = toldLive(steps);

        assertThat(all(live, StepCompleted.class)).isEqualTo(all(files, StepCompleted.class));
        assertThat(all(live, RequestQueued.class)).isEqualTo(all(files, RequestQueued.class));
        assertThat(all(live, RequestFinished.class)).isEqualTo(all(files, RequestFinished.class));
        assertThat(all(live, StepCompleted.class)).isNotEmpty();
        // Nothing is told twice, and nothing is left.
        List<TimedEvent> rest = new ArrayList<>();
        steps.finish(rest::add);
        assertThat(rest).isEmpty();
    }

    @Test
    void liveAStepWaitsForARequestThatIsStillOpenAndNotForOneThatIsLost() {
        String a = request("a", 10, 0, 2, 0, 30);
        slice("prefill_forward", a, 0, 10, "p", 1);
        slice("decode_loop", a, 10, 20, "d", 2);
        SglangSteps steps = new SglangSteps(1_000);
        Span.Builder open = slice("decode_loop", "00000000000000ff", 10.1, 20.1, "d", 2);
        OtlpBatch batch = Otlp.decoded(
                new OtlpDecoder(), Otlp.traces("sglang", "sglang server", spans.toArray(Span.Builder[]::new)));
        steps.accept(batch.events());
        List<TimedEvent> told = new ArrayList<>();
        steps.drain(open.getEndTimeUnixNano() + 2 * SglangSteps.SETTLE_NANOS, told::add);
        assertThat(all(told, StepCompleted.class)).hasSize(1);
        assertThat(all(told, RequestFinished.class)).isEmpty();
        steps.drain(open.getEndTimeUnixNano() + SglangSteps.HOLD_NANOS + 1, told::add);
        assertThat(all(told, StepCompleted.class)).hasSize(2);
        assertThat(all(told, RequestFinished.class)).hasSize(1);
    }

    @Test
    void slicesOfOneBatchAreOneStepWithARowEach() {
        twoRequests();
        SglangSteps steps = new SglangSteps();
        List<TimedEvent> told = told(steps);
        List<StepCompleted> made = all(told, StepCompleted.class);
        assertThat(made).extracting(step -> step.rows().count()).containsExactly(1, 1, 2, 2, 1);
        assertThat(made)
                .extracting(StepCompleted::forwardMode)
                .containsExactly("prefill", "prefill", "decode", "decode", "decode");
        assertThat(made).extracting(StepCompleted::stepId).containsExactly(0L, 1L, 2L, 3L, 4L);
        assertThat(made.get(2).updateEndNanos()).isEqualTo(Otlp.START + Math.round(50.02 * MILLI));
        assertThat(made.get(0).rows().scheduledTokens(0)).isEqualTo(60);
        assertThat(made.get(0).rows().contextTokens(0)).isEqualTo(100);
        assertThat(made.get(3).rows().contextTokens(0)).isEqualTo(102);
        assertThat(made.get(3).rows().firstTokenIndex(0)).isEqualTo(2);
        assertThat(all(told, RequestQueued.class))
                .extracting(RequestQueued::engineRequestId)
                .containsExactly("a", "b");
        assertThat(all(told, RequestFinished.class))
                .extracting(RequestFinished::endReason)
                .containsOnly("length");
        assertThat(steps.line())
                .isEqualTo("SGLang traced 2 requests: 5 steps of 2 of them; 1 steps had more sequences"
                        + " than were traced");
    }

    @Test
    void theOrderSpansComeInDoesNotMatter() {
        twoRequests();
        List<TimedEvent> straight = told(new SglangSteps());
        SplittableRandom random = new SplittableRandom(5);
        for (int i = spans.size() - 1; i > 0; i--) {
            Collections.swap(spans, i, random.nextInt(i + 1));
        }
        List<StepCompleted> shuffled = all(told(new SglangSteps()), StepCompleted.class);
        assertThat(shuffled)
                .extracting(StepCompleted::updateEndNanos)
                .isEqualTo(all(straight, StepCompleted.class).stream()
                        .map(StepCompleted::updateEndNanos)
                        .toList());
    }

    @Test
    void aRetractionIsAPreemptionAndWhatFollowsIsComputedAgain() {
        String a = request("a", 100, 0, 4, 0, 900);
        add("prefill_waiting", a, 1, 5);
        slice("prefill_forward", a, 5, 25, "p1", 1);
        slice("decode_loop", a, 25, 35, "d", 1)
                .addEvents(Span.Event.newBuilder().setName("retract").setTimeUnixNano(Otlp.START + 35 * MILLI));
        slice("prefill_forward", a, 800, 820, "p2", 1);
        slice("decode_loop", a, 820, 830, "d", 1);
        List<TimedEvent> told = told(new SglangSteps());
        RequestPreempted preempted = all(told, RequestPreempted.class).get(0);
        assertThat(preempted.reason()).isEqualTo("retract");
        assertThat(preempted.stepId()).isEqualTo(1);
        assertThat(preempted.outputTokens()).isEqualTo(2);
        StepCompleted resumed = all(told, StepCompleted.class).get(2);
        assertThat(resumed.rows().row(0).phase()).isEqualTo(io.tokenstair.event.Phase.RESUMED);
        assertThat(resumed.rows().scheduledTokens(0)).isEqualTo(102);
        assertThat(resumed.rows().cachedTokens(0)).isNegative();
        assertThat(resumed.recomputeTokens()).isEqualTo(102);
    }

    @Test
    void whatDoesNotAddUpStaysSpans() {
        String a = request("a", 100, 0, 9, 0, 70);
        slice("prefill_forward", a, 5, 25, "p1", 1);
        slice("decode_loop", a, 25, 35, "d", 1);
        SglangSteps steps = new SglangSteps();
        assertThat(told(steps)).isEmpty();
        assertThat(steps.line()).contains("0 steps of 0 of them; 1 whose slices do not add up to their tokens");
    }

    @Test
    void otherRanksOfOneEngineAreNotCountedAgain() {
        twoRequests();
        String root = idOf(spans.get(0));
        String other = thread(root, 1);
        slice("prefill_forward", other, 5, 25, "p1", 1);
        for (int i = 0; i < 3; i++) {
            slice("decode_loop", other, 40 + 10 * i, 50 + 10 * i, "d", 2);
        }
        assertThat(all(told(new SglangSteps()), StepCompleted.class)).hasSize(5);
    }

    @Test
    void aPromptInChunksHasNoQueuedStamp() {
        String a = request("a", 100, 0, 2, 0, 70);
        add("prefill_waiting", a, 1, 5);
        slice("chunked_prefill", a, 5, 15, "p0", 1);
        slice("prefill_forward", a, 15, 25, "p1", 1);
        slice("decode_loop", a, 25, 35, "d", 1);
        List<TimedEvent> told = told(new SglangSteps());
        assertThat(all(told, RequestQueued.class)).isEmpty();
        assertThat(all(told, StepCompleted.class)).hasSize(2);
    }
}
