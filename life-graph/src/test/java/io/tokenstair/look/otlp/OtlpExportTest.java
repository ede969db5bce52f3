package io.tokenstair.look.otlp;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.proto.collector.logs.v1.ExportLogsServiceRequest;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.logs.v1.LogRecord;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import io.opentelemetry.proto.trace.v1.Span;
import io.tokenstair.archive.TableSchema;
import io.tokenstair.clock.EpochClock;
import io.tokenstair.collect.otlp.OtlpBatch;
import io.tokenstair.collect.otlp.OtlpDecoder;
import io.tokenstair.collect.otlp.OtlpException;
import io.tokenstair.collect.otlp.OtlpLimits;
import io.tokenstair.collect.otlp.OtlpRequest;
import io.tokenstair.collect.otlp.receive.EventWay;
import io.tokenstair.collect.otlp.receive.OtlpReceiver;
import io.tokenstair.collect.otlp.receive.ReceiverSecurity;
import io.tokenstair.collect.otlp.receive.ReceiverSettings;
import io.tokenstair.event.Event;
import io.tokenstair.event.EventKind;
import io.tokenstair.event.SpanRecorded;
import io.tokenstair.look.CommandRun;
import io.tokenstair.look.SampleArchive;
import io.tokenstair.look.archive.RequestArrival;
import io.tokenstair.look.archive.ResultTableFixture;
import io.vertx.core.net.SelfSignedCertificate;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class OtlpExportTest {
    private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
    private static final String PARENT = "00f067aa0ba902b7";

    @TempDir
    static Path folder;

    private Path archive;

    @BeforeAll
    void write() {
        archive = folder.resolve("archive");
        SampleArchive.write(archive);
        ResultTableFixture.write(
                archive,
                TableSchema.of(EventKind.REQUEST_RECEIVED.wireName(), RequestArrival.class),
                SampleArchive.START_EPOCH_NANOS / 1_000_000L,
                List.of(
                        new RequestArrival(
                                SampleArchive.PREEMPTED,
                                TRACE,
                                PARENT,
                                "m-7b",
                                "/v1/chat/completions",
                                SampleArchive.START_EPOCH_NANOS / 1_000_000L),
                        new RequestArrival("chat-1", "x".repeat(32), "0".repeat(16), null, null, null)));
    }

    private CommandRun run(String... more) {
        List<String> arguments = new ArrayList<>(List.of("otlp", "--archive", archive.toString()));
        arguments.addAll(List.of(more));
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        int exitCode = ExportMain.run(arguments.toArray(String[]::new), out, err, Map.of("LANG", "C.UTF-8"));
        return new CommandRun(exitCode, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
    }

    private static List<Span> spans(List<ExportTraceServiceRequest> requests) {
        List<Span> spans = new ArrayList<>();
        for (ExportTraceServiceRequest request : requests) {
            for (ResourceSpans resource : request.getResourceSpansList()) {
                for (ScopeSpans scope : resource.getScopeSpansList()) {
                    spans.addAll(scope.getSpansList());
                }
            }
        }
        return spans;
    }

    private List<Span> exported(String... more) throws IOException {
        Path file = folder.resolve("out-" + HexFormat.of().toHexDigits(System.identityHashCode(more)) + ".pb");
        List<String> arguments = new ArrayList<>(List.of(more));
        arguments.addAll(List.of("--out", file.toString()));
        assertThat(run(arguments.toArray(String[]::new)).exitCode()).isZero();
        return spans(framed(Files.readAllBytes(file)));
    }

    private static List<ExportTraceServiceRequest> framed(byte[] bytes) throws IOException {
        List<ExportTraceServiceRequest> requests = new ArrayList<>();
        try (DataInputStream in = new DataInputStream(new java.io.ByteArrayInputStream(bytes))) {
            while (true) {
                byte[] request = new byte[in.readInt()];
                in.readFully(request);
                requests.add(ExportTraceServiceRequest.parseFrom(request));
            }
        } catch (EOFException end) {
            return requests;
        }
    }

    private static String hex(com.google.protobuf.ByteString id) {
        return HexFormat.of().formatHex(id.toByteArray());
    }

    private static @Nullable AnyValue value(List<KeyValue> attributes, String key) {
        return attributes.stream()
                .filter(attribute -> attribute.getKey().equals(key))
                .map(KeyValue::getValue)
                .findFirst()
                .orElse(null);
    }

    private static long whole(List<KeyValue> attributes, String key) {
        AnyValue value = value(attributes, key);
        return value == null ? Long.MIN_VALUE : value.getIntValue();
    }

    @Test
    void everySpanHasValidIdsOfItsOwnAndAPlaceInItsTrace() throws IOException {
        List<Span> spans = exported();
        assertThat(spans).hasSizeGreaterThan(20);
        Set<String> ids = new HashSet<>();
        Map<String, String> traceOf = new HashMap<>();
        for (Span span : spans) {
            assertThat(span.getTraceId().size()).isEqualTo(16);
            assertThat(span.getSpanId().size()).isEqualTo(8);
            assertThat(hex(span.getTraceId())).matches("[0-9a-f]*[1-9a-f][0-9a-f]*");
            assertThat(ids.add(hex(span.getTraceId()) + hex(span.getSpanId()))).isTrue();
            traceOf.put(hex(span.getSpanId()), hex(span.getTraceId()));
            assertThat(span.getEndTimeUnixNano()).isGreaterThanOrEqualTo(span.getStartTimeUnixNano());
        }
        for (Span span : spans) {
            String parent = hex(span.getParentSpanId());
            if (!parent.isEmpty() && !parent.equals(PARENT)) {
                assertThat(traceOf.get(parent)).as(span.getName()).isEqualTo(hex(span.getTraceId()));
            }
        }
    }

    @Test
    void aRequestKeepsTheTraceItCameWith() throws IOException {
        List<Span> spans = exported("--request", SampleArchive.PREEMPTED);
        Span root = spans.get(0);
        assertThat(hex(root.getTraceId())).isEqualTo(TRACE);
        assertThat(hex(root.getParentSpanId())).isEqualTo(PARENT);
        assertThat(root.getName()).isEqualTo("chat m-7b");
        assertThat(value(root.getAttributesList(), "gen_ai.operation.name"))
                .isEqualTo(AnyValue.newBuilder().setStringValue("chat").build());
        assertThat(value(root.getAttributesList(), "gen_ai.request.id"))
                .isEqualTo(AnyValue.newBuilder()
                        .setStringValue(SampleArchive.PREEMPTED)
                        .build());
        assertThat(whole(root.getAttributesList(), "gen_ai.usage.output_tokens"))
                .isPositive();
        assertThat(spans).extracting(Span::getName).contains("tokenstair.prefill", "tokenstair.decode");
        // What nobody said is not written as a reason.
        for (Span span : exported()) {
            assertThat(String.valueOf(value(span.getAttributesList(), "gen_ai.response.finish_reasons")))
                    .doesNotContain("unknown");
        }
        // A trace id that is none is not taken over.
        assertThat(hex(exported("--request", "chat-1").get(0).getTraceId())).doesNotContain("x");
    }

    @Test
    void aSlowTokenIsAnEventWhosePartsAddUp() throws IOException {
        Span decode = exported("--request", SampleArchive.PREEMPTED).stream()
                .filter(span -> span.getName().equals("tokenstair.decode"))
                .findFirst()
                .orElseThrow();
        assertThat(decode.getEventsList()).isNotEmpty();
        boolean preempted = false;
        for (Span.Event event : decode.getEventsList()) {
            List<KeyValue> attributes = event.getAttributesList();
            long sum = attributes.stream()
                    .filter(attribute -> attribute.getKey().startsWith("tokenstair.part."))
                    .mapToLong(attribute -> attribute.getValue().getIntValue())
                    .sum();
            assertThat(sum).isEqualTo(whole(attributes, "tokenstair.gap.nanos"));
            preempted |= whole(attributes, "tokenstair.token.index") == SampleArchive.PREEMPTED_TOKEN;
        }
        assertThat(preempted).isTrue();
        assertThat(whole(decode.getAttributesList(), "tokenstair.slow.tokens"))
                .isEqualTo(decode.getEventsCount() + decode.getDroppedEventsCount());
        AnyValue times = value(decode.getAttributesList(), "gen_ai.response.per_token_time_to_generate");
        assertThat(times).isNotNull();
        assertThat(times.getArrayValue().getValues(0).getDoubleValue()).isZero();
    }

    @Test
    void findingsAreSpansInTheTraceOfTheirRequest() throws IOException {
        List<Span> findings = exported().stream()
                .filter(span -> span.getName().startsWith("finding "))
                .toList();
        assertThat(findings).isNotEmpty();
        assertThat(findings)
                .anySatisfy(span -> assertThat(hex(span.getTraceId())).isEqualTo(TRACE));
        for (Span finding : findings) {
            assertThat(value(finding.getAttributesList(), "tokenstair.cause")).isNotNull();
            assertThat(value(finding.getAttributesList(), "tokenstair.finding.narrative"))
                    .isNotNull();
        }
    }

    @Test
    void linesAndProtobufSayTheSameAndOurOwnReaderReadsBoth() throws IOException, OtlpException {
        Path lines = folder.resolve("same.jsonl.gz");
        assertThat(run("--out", lines.toString()).out()).contains("exported ").contains("1 in the trace");
        List<SpanRecorded> fromLines = new ArrayList<>();
        OtlpDecoder decoder = new OtlpDecoder(true);
        try (GZIPInputStream in = new GZIPInputStream(Files.newInputStream(lines))) {
            for (String line : new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .toList()) {
                byte[] json = line.getBytes(StandardCharsets.UTF_8);
                OtlpBatch batch = decoder.decode(OtlpRequest.json(json, json.length, OtlpLimits.DEFAULT));
                assertThat(batch.rejected()).isZero();
                batch.events().forEach(event -> {
                    // Findings are log records too, which frames of protobuf do not hold.
                    SpanRecorded span = (SpanRecorded) event.event();
                    if (!"LOG_RECORD".equals(span.spanKind())) {
                        fromLines.add(span);
                    }
                });
            }
        }
        Path binary = folder.resolve("same.binpb");
        run("--out", binary.toString());
        List<SpanRecorded> fromFrames = new ArrayList<>();
        for (ExportTraceServiceRequest request : framed(Files.readAllBytes(binary))) {
            fromFrames.addAll(OtlpDecoder.spans(OtlpRequest.protobuf(request.toByteArray(), OtlpLimits.DEFAULT)));
        }
        assertThat(fromLines).isNotEmpty().isEqualTo(fromFrames);
        byte[] again = Files.readAllBytes(binary);
        run("--out", binary.toString());
        assertThat(Files.readAllBytes(binary)).isEqualTo(again);
    }

    private static final class Taken implements EventWay {
        private final List<Event> events = new ArrayList<>();

        @Override
        public int roomCount() {
            return 100_000;
        }

        @Override
        public int mostCount() {
            return 100_000;
        }

        @Override
        public synchronized boolean offer(@Nullable String clockId, @Nullable Long clockNanos, Event event) {
            return events.add(event);
        }

        @Override
        public @Nullable String trouble() {
            return null;
        }

        /** Spans; findings, which come as log records too, are counted once. */
        synchronized long spanCount() {
            return events.stream()
                    .filter(event -> event instanceof SpanRecorded span && !"LOG_RECORD".equals(span.spanKind()))
                    .count();
        }
    }

    @Test
    void ourOwnReceiverTakesThem() throws IOException {
        Taken taken = new Taken();
        try (OtlpReceiver receiver =
                OtlpReceiver.start(ReceiverSettings.onLoopback(0, 0), taken, EpochClock.system(), () -> "")) {
            CommandRun run = run("--to", "http://127.0.0.1:" + receiver.httpPort());
            assertThat(run.exitCode()).isZero();
            assertThat(run.out()).doesNotContain("refused");
            assertThat(run.out()).contains("exported " + taken.spanCount() + " spans");
        }
        assertThat(taken.events)
                .hasSizeGreaterThan(20)
                .allSatisfy(event -> assertThat(event).isInstanceOf(SpanRecorded.class));
    }

    @Test
    void findingsAreLogRecordsThatNameTheSpanOfTheirRequest() throws Exception {
        Path file = folder.resolve("with-logs.jsonl");
        CommandRun run = run("--out", file.toString());
        List<LogRecord> logs = new ArrayList<>();
        List<Span> spans = new ArrayList<>();
        for (String line : Files.readAllLines(file)) {
            byte[] json = line.getBytes(StandardCharsets.UTF_8);
            OtlpRequest request = OtlpRequest.json(json, json.length, OtlpLimits.DEFAULT);
            if (request.message() instanceof ExportLogsServiceRequest export) {
                export.getResourceLogsList()
                        .forEach(resource ->
                                resource.getScopeLogsList().forEach(scope -> logs.addAll(scope.getLogRecordsList())));
            } else if (request.message() instanceof ExportTraceServiceRequest export) {
                spans.addAll(spans(List.of(export)));
            }
        }
        List<Span> findings = spans.stream()
                .filter(span -> span.getName().startsWith("finding "))
                .toList();
        assertThat(logs).hasSameSizeAs(findings).isNotEmpty();
        assertThat(run.out()).contains(", which are " + logs.size() + " log records too");
        Set<String> all = new HashSet<>();
        spans.forEach(span -> all.add(hex(span.getTraceId()) + hex(span.getSpanId())));
        boolean joined = false;
        for (LogRecord log : logs) {
            assertThat(log.getEventName()).isEqualTo("tokenstair.finding");
            assertThat(all).contains(hex(log.getTraceId()) + hex(log.getSpanId()));
            joined |= hex(log.getTraceId()).equals(TRACE);
            assertThat(log.getBody().getStringValue()).isNotBlank();
            assertThat(log.getTimeUnixNano()).isPositive();
            assertThat(log.getSeverityText()).isIn("info", "warning", "critical");
            assertThat(log.getSeverityNumber().getNumber())
                    .isEqualTo(Map.of("info", 9, "warning", 13, "critical", 17).get(log.getSeverityText()));
            assertThat(log.getAttributesList())
                    .extracting(KeyValue::getKey)
                    .contains("tokenstair.finding.id", "tokenstair.finding.rule", "tokenstair.cause");
        }
        assertThat(joined).isTrue();
    }

    @Test
    void anEndpointThatAsksWhoSendsIsToldOverTls() throws Exception {
        SelfSignedCertificate own = SelfSignedCertificate.create("localhost");
        SelfSignedCertificate client = SelfSignedCertificate.create("client");
        String secret = "s3cr3t-that-nobody-may-read";
        ReceiverSettings usual = ReceiverSettings.onLoopback(0, 0);
        ReceiverSettings settings = new ReceiverSettings(
                usual.grpcHost(),
                0,
                usual.httpHost(),
                0,
                usual.requestBytes(),
                usual.limits(),
                usual.heldBytes(),
                usual.requestTime(),
                usual.connections(),
                usual.futureTolerance(),
                new ReceiverSecurity(
                        Path.of(own.certificatePath()),
                        Path.of(own.privateKeyPath()),
                        Path.of(client.certificatePath()),
                        new ReceiverSecurity.Secret("authorization", secret)));
        Taken taken = new Taken();
        Path header = Files.writeString(folder.resolve("header"), "Bearer " + secret + "\n");
        try (OtlpReceiver receiver = OtlpReceiver.start(settings, taken, EpochClock.system(), () -> "")) {
            String to = "https://localhost:" + receiver.httpPort();
            CommandRun untrusted = run("--to", to);
            assertThat(untrusted.exitCode()).isEqualTo(2);
            assertThat(untrusted.err()).contains("TLS with ").contains("--ca");
            List<String> tls = List.of(
                    "--to",
                    to,
                    "--ca",
                    own.certificatePath(),
                    "--cert",
                    client.certificatePath(),
                    "--key",
                    client.privateKeyPath());
            CommandRun unknown = run(tls.toArray(String[]::new));
            assertThat(unknown.exitCode()).isEqualTo(2);
            assertThat(unknown.err()).contains(" answered 401: it wants to know who sends");
            List<String> whole = new ArrayList<>(tls);
            whole.addAll(List.of("--header", "Authorization=file:" + header));
            CommandRun done = run(whole.toArray(String[]::new));
            assertThat(done.exitCode()).as(done.err()).isZero();
            assertThat(done.out() + done.err() + unknown.err()).doesNotContain(secret);
            assertThat(done.out())
                    .contains("exported " + taken.spanCount() + " spans")
                    .contains("log records too");
        }
        assertThat(run("--to", "http://127.0.0.1:1", "--header", "authorization=" + secret)
                        .err())
                .contains("give NAME=env:VARIABLE or NAME=file:PATH")
                .doesNotContain(secret);
        assertThat(run("--to", "http://127.0.0.1:1", "--header", "authorization=env:NO_SUCH")
                        .err())
                .contains("the environment has no NO_SUCH");
    }

    @Test
    void whereNobodyListensItSaysSo() {
        CommandRun run = run("--to", "http://127.0.0.1:1");
        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err()).contains("nobody listens at http://127.0.0.1:1/v1/traces");
        assertThat(run("--to", "ftp://x").err()).contains("not an address of HTTP");
        assertThat(run().exitCode()).isEqualTo(2);
        assertThat(run("--request", "nobody", "--out", folder.resolve("x").toString())
                        .err())
                .contains("Cannot find request nobody");
    }
}
