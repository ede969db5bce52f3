package io.tokenstair.collect.otlp;

import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.trace.v1.Span;
import io.tokenstair.event.Chunk;
import io.tokenstair.event.ChunkDelivered;
import io.tokenstair.event.Finish;
import io.tokenstair.event.SpanRecorded;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Per-token times of the proposed token-level conventions: {@code gen_ai.response.per_token_time_to_generate}, seconds since the start of the
 * span by output position. They become chunks of one token each, as the client saw them where the span is a client's, else as its server
 * wrote them. Times that go backwards, are no numbers or lie outside of the span are refused as a whole.
 */
final class TokenTimes {
    static final String GENERATED = "gen_ai.response.per_token_time_to_generate";
    private static final int MAX_TOKENS = 1 << 17;
    private static final int CHUNKS_A_RECORD = 16;

    private TokenTimes() {}

    static void add(Span span, SpanRecorded recorded, boolean serversTell, List<TimedEvent> events)
            throws OtlpException {
        boolean client = "SPAN_KIND_CLIENT".equals(recorded.spanKind());
        if (!client && !serversTell) {
            return;
        }
        List<AnyValue> times = null;
        for (KeyValue attribute : span.getAttributesList()) {
            if (attribute.getKey().equals(GENERATED)) {
                times = attribute.getValue().getArrayValue().getValuesList();
            }
        }
        Long start = recorded.startEpochNanos();
        String requestId = ClientCalls.requestId(recorded);
        if (times == null || times.isEmpty() || start == null || requestId == null) {
            return;
        }
        if (times.size() > MAX_TOKENS) {
            throw new OtlpException("field " + GENERATED + ": more than " + MAX_TOKENS + " tokens");
        }
        long[] stamps = stamps(times, start, recorded.endEpochNanos());
        String observer = client ? "client" : "gateway";
        for (int from = 0; from < stamps.length; from += CHUNKS_A_RECORD) {
            List<Chunk> chunks = new ArrayList<>();
            for (int i = from; i < Math.min(stamps.length, from + CHUNKS_A_RECORD); i++) {
                chunks.add(new Chunk(0, i, i, 1, 0, stamps[i], Finish.NONE));
            }
            events.add(new TimedEvent(new ChunkDelivered(observer, requestId, chunks), stamps[from], stamps[from]));
        }
    }

    private static long[] stamps(List<AnyValue> times, long start, @Nullable Long end) throws OtlpException {
        long[] stamps = new long[times.size()];
        long before = start;
        for (int i = 0; i < stamps.length; i++) {
            AnyValue time = times.get(i);
            double seconds =
                    time.hasDoubleValue() ? time.getDoubleValue() : time.hasIntValue() ? time.getIntValue() : -1;
            if (!(seconds >= 0) || seconds > 3.2e7) {
                throw new OtlpException("field " + GENERATED + ": not a duration in seconds");
            }
            stamps[i] = start + Math.round(seconds * 1e9);
            if (stamps[i] < before || (end != null && stamps[i] > end)) {
                throw new OtlpException("field " + GENERATED + ": goes backwards, or beyond the end of the span");
            }
            before = stamps[i];
        }
        return stamps;
    }
}
