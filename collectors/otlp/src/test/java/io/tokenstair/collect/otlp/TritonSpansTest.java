package io.tokenstair.collect.otlp;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.proto.trace.v1.Span;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.event.RequestFinished;
import io.tokenstair.event.RequestQueued;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Spans as Triton's tracer makes them (src/tracer.cc of its server, 2026-08); no server of it can run here. */
public class TritonSpansTest {
    private static final String SERVICE = "triton-inference-server";

    /** The example of Triton's documentation of its trace files, as its tracer gives it to OpenTelemetry. */
    public static List<Span.Builder> documented() {
        long base = Otlp.START - 2_356_425_054_000_000L;
        return List.of(
                span("compute", 3, 2, base + 2356425054887198L, base + 2356425057540989L)
                        .addEvents(event("COMPUTE_START", base + 2356425054887198L))
                        .addEvents(event("COMPUTE_INPUT_END", base + 2356425057152908L))
                        .addEvents(event("COMPUTE_OUTPUT_START", base + 2356425057497763L))
                        .addEvents(event("COMPUTE_END", base + 2356425057540989L)),
                model("simple", 1, "job-42", 2, 1, base + 2356425054785863L, base + 2356425057643164L)
                        .addEvents(event("REQUEST_START", base + 2356425054785863L))
                        .addEvents(event("QUEUE_START", base + 2356425054791517L))
                        .addEvents(event("REQUEST_END", base + 2356425057643164L)),
                span("InferRequest", 1, 0, base + 2356425054587444L, base + 2356425057712991L)
                        .addEvents(event("HTTP_RECV_START", base + 2356425054587444L))
                        .addEvents(event("HTTP_RECV_END", base + 2356425054632308L))
                        .addEvents(event("INFER_RESPONSE_COMPLETE", base + 2356425057587919L))
                        .addEvents(event("HTTP_SEND_START", base + 2356425057681578L))
                        .addEvents(event("HTTP_SEND_END", base + 2356425057712991L)));
    }

    private static Span.Builder span(String name, int id, int parent, long from, long to) {
        Span.Builder span = Otlp.span(name, hex(id))
                .setKind(Span.SpanKind.SPAN_KIND_SERVER)
                .setStartTimeUnixNano(from)
                .setEndTimeUnixNano(to);
        return parent == 0 ? span : span.setParentSpanId(Otlp.id(hex(parent)));
    }

    private static Span.Builder model(
            String name, int version, @Nullable String request, int id, int parent, long from, long to) {
        Span.Builder span = span(name, id, parent, from, to)
                .addAttributes(Otlp.text("triton.model_name", name))
                .addAttributes(Otlp.whole("triton.model_version", version))
                .addAttributes(Otlp.whole("triton.trace_id", id))
                .addAttributes(Otlp.whole("triton.trace_parent_id", 0));
        return request == null ? span : span.addAttributes(Otlp.text("triton.request_id", request));
    }

    private static String hex(int id) {
        return String.format("%016x", id);
    }

    private static Span.Event event(String name, long nanos) {
        return Span.Event.newBuilder().setName(name).setTimeUnixNano(nanos).build();
    }

    /** Each span in a request of its own. */
    private static List<TimedEvent> told(TritonSpans triton, List<Span.Builder> spans) {
        List<TimedEvent> told = new ArrayList<>();
        OtlpDecoder decoder = new OtlpDecoder();
        for (Span.Builder span : spans) {
            triton.accept(
                    Otlp.decoded(decoder, Otlp.traces(SERVICE, "triton-server", span))
                            .events(),
                    told::add);
        }
        return told;
    }

    private static List<String> samples(List<TimedEvent> told) {
        List<String> samples = new ArrayList<>();
        for (TimedEvent timed : told) {
            if (timed.event() instanceof MetricSampled sample) {
                samples.add(sample.name() + " " + Math.round(sample.sampledValue() * 1e9) + " "
                        + sample.labels().replace("engine=\"" + SERVICE + "\",", ""));
            }
        }
        return samples;
    }

    @Test
    void theDocumentedRequestTellsItsWaitInWhateverOrderItsSpansCome() {
        List<Span.Builder> spans = new ArrayList<>(documented());
        for (int i = 0; i < 24; i++) {
            TritonSpans triton = new TritonSpans(false);
            List<TimedEvent> told = told(triton, spans);
            String model = " model=\"simple\",request_id=\"job-42\",version=\"1\"";
            String request = " request_id=\"job-42\"";
            assertThat(samples(told))
                    .containsExactly(
                            "triton:model_queue_seconds 95681" + model,
                            "triton:model_input_seconds 2265710" + model,
                            "triton:model_infer_seconds 344855" + model,
                            "triton:model_output_seconds 43226" + model,
                            "triton:model_seconds 2857301" + model,
                            "triton:request_queue_seconds 95681" + request,
                            "triton:request_receive_seconds 44864" + request,
                            "triton:request_seconds 2857301" + request,
                            "triton:request_send_seconds 31413" + request,
                            "triton:request_responses 1000000000" + request);
            assertThat(told)
                    .hasSize(10)
                    .allSatisfy(timed -> assertThat(timed.epochNanos())
                            .isEqualTo(Otlp.START - 2_356_425_054_000_000L + 2356425057712991L));
            assertThat(triton.held()).isZero();
            // The same spans sent again are told again, and nothing of them stays.
            Collections.shuffle(spans, new Random(i));
        }
    }

    @Test
    void whereNothingElseTellsTheRequestItsQueueAndItsEndAreToldToo() {
        List<TimedEvent> told = told(new TritonSpans(true), documented());
        assertThat(told.stream().map(TimedEvent::event))
                .contains(
                        new RequestQueued(SERVICE, 0, 0, "job-42", null, null, null, null),
                        new RequestFinished(SERVICE, 0, "job-42", "unknown", null, null));
    }

    @Test
    void theWaitsOfAnEnsemblesModelsAreOneWaitAndThoseOfAModelThatCallsOthersTheirs() {
        long t = Otlp.START;
        List<Span.Builder> spans = new ArrayList<>(List.of(
                span("InferRequest", 1, 0, t, t + 50_000).addEvents(event("GRPC_SEND_START", t + 41_000)),
                model("all", 1, null, 2, 1, t, t + 40_000)
                        .addEvents(event("REQUEST_START", t))
                        .addEvents(event("QUEUE_START", t + 10))
                        .addEvents(event("REQUEST_END", t + 40_000)),
                model("pre", 1, null, 3, 2, t, t + 9_000).addEvents(event("QUEUE_START", t + 1_000)),
                span("compute", 4, 3, t, t).addEvents(event("COMPUTE_START", t + 5_000)),
                model("llm", 1, null, 5, 2, t, t + 30_000).addEvents(event("QUEUE_START", t + 3_000)),
                span("compute", 6, 5, t, t).addEvents(event("COMPUTE_START", t + 8_000)),
                // A model that calls another one does so while it is computed.
                model("bls", 1, null, 7, 6, t, t + 30_000).addEvents(event("QUEUE_START", t + 20_000)),
                span("compute", 8, 7, t, t).addEvents(event("COMPUTE_START", t + 20_500))));
        Collections.reverse(spans);
        assertThat(samples(told(new TritonSpans(false), spans)))
                .contains(
                        "triton:request_queue_seconds 7500 request_id=\"" + SERVICE + "#" + hex(1) + "\"",
                        "triton:request_seconds 40000 request_id=\"" + SERVICE + "#" + hex(1) + "\"")
                .hasSize(6);
    }

    @Test
    void whatIsMissingIsWaitedForAndNeverGuessed() {
        for (int missing = 0; missing < 3; missing++) {
            List<Span.Builder> spans = new ArrayList<>(documented());
            spans.remove(missing);
            TritonSpans triton = new TritonSpans(true);
            assertThat(told(triton, spans)).isEmpty();
            assertThat(triton.held()).isEqualTo(2);
        }
        TritonSpans triton = new TritonSpans(true);
        // Spans of the same names that are of something else.
        assertThat(told(
                        triton,
                        List.of(
                                span("InferRequest", 1, 0, Otlp.START, Otlp.START),
                                span("compute", 2, 1, Otlp.START, Otlp.START))))
                .isEmpty();
        // Stamps in an order that cannot be: no wait.
        List<Span.Builder> back = new ArrayList<>(documented());
        back.set(0, back.get(0).setEvents(0, event("COMPUTE_START", Otlp.START)));
        assertThat(samples(told(new TritonSpans(false), back)))
                .noneMatch(sample -> sample.contains("queue_seconds") || sample.contains("model_"));
    }

    @Test
    void aStreamedAnswerTellsItsWaitAndNotHowOftenItWasAnswered() {
        List<Span.Builder> spans = new ArrayList<>(documented());
        Span.Builder root = spans.get(2);
        for (int i = 0; i < 40; i++) {
            root.addEvents(event("INFER_RESPONSE_COMPLETE", Otlp.START + 10_000_000 + i));
        }
        assertThat(samples(told(new TritonSpans(false), spans)))
                .anyMatch(sample -> sample.startsWith("triton:request_queue_seconds 95681"))
                .noneMatch(sample -> sample.startsWith("triton:request_responses")
                        || sample.startsWith("triton:request_send_seconds"));
    }

    @Test
    void spansWhoseRequestNeverComesAreForgotten() {
        TritonSpans triton = new TritonSpans(false);
        List<TimedEvent> told = new ArrayList<>();
        OtlpDecoder decoder = new OtlpDecoder();
        int spans = 3 * TritonSpans.MOST;
        for (int i = 1; i <= spans; i += 64) {
            Span.Builder[] some = new Span.Builder[64];
            for (int j = 0; j < some.length; j++) {
                some[j] = model("m", 1, "r", i + j, 0, Otlp.START, Otlp.START + 1)
                        .setTraceId(Otlp.id(String.format("%032x", 1 + i / 8 + j / 8)));
            }
            triton.accept(
                    Otlp.decoded(decoder, Otlp.traces(SERVICE, "triton-server", some))
                            .events(),
                    told::add);
            assertThat(triton.held()).isLessThanOrEqualTo(TritonSpans.MOST);
        }
        assertThat(told).isEmpty();
        assertThat(triton.held() + triton.forgotten()).isEqualTo(spans);
        assertThat(samples(told(triton, documented()))).hasSize(10);
    }
}
