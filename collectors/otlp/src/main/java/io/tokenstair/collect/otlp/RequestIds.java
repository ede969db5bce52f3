package io.tokenstair.collect.otlp;

import io.tokenstair.event.IdAliased;
import io.tokenstair.event.SpanRecorded;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Which request a span is of. An engine's id names the client's where it wraps it; where it does not, the span's parent may: a gateway or
 * client span that carries the client's id. At most {@value #MOST} spans wait for their parent or child; the oldest go first.
 */
public final class RequestIds {
    static final int MOST = 1 << 14;

    /** The external id of a completion: the client's id, with the number of the prompt in the request. */
    private static final Pattern COMPLETION_ID = Pattern.compile("cmpl-(.+)-\\d+", Pattern.DOTALL);

    private static final Pattern CHAT_ID = Pattern.compile("(?:chatcmpl|generate-tokens)-(.+)", Pattern.DOTALL);

    /** The id of a turn of a response: the response's own id, which its stream carries, with the number of the turn. */
    private static final Pattern RESPONSE_ID = Pattern.compile("(resp_[0-9A-Za-z]+)_\\d{1,6}");

    /** Ids that clients gave, by the span that carries them. */
    private final Map<String, String> clientIds = new Bounded();
    /** Ids of engines, by the parent of the span that carries them, while that parent is not known. */
    private final Map<String, String> engineIds = new Bounded();

    private static final class Bounded extends LinkedHashMap<String, String> {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, String> eldest) {
            return size() > MOST;
        }
    }

    /** The client's id in an id of an OpenAI-compatible API server; null when it wraps none. */
    public static @Nullable String wrappedId(String externalId) {
        for (Pattern form : List.of(COMPLETION_ID, CHAT_ID, RESPONSE_ID)) {
            Matcher matcher = form.matcher(externalId);
            if (matcher.matches()) {
                return matcher.group(1);
            }
        }
        return null;
    }

    /** The second name of a request that a span tells by itself; null when it tells none. */
    public static @Nullable IdAliased wrapped(SpanRecorded span) {
        String id = engineId(span);
        String requestId = id == null ? null : wrappedId(id);
        return id == null || requestId == null ? null : new IdAliased(requestId, id, "otlp-span");
    }

    /** The engine's id of the request, or of its answer; null when the span has none. */
    static @Nullable String engineId(SpanRecorded span) {
        String id = SpanReader.attribute(span, GenAiNames.REQUEST_ID);
        return id != null ? id : SpanReader.attribute(span, GenAiNames.RESPONSE_ID);
    }

    /** The second name of a request that a span and its parent or child tell together; null when they tell none, or not yet. */
    @Nullable
    IdAliased joined(SpanRecorded span) {
        String client = SpanReader.attribute(span, GenAiNames.CLIENT_REQUEST_ID);
        String engine = engineId(span);
        if (client != null && engine != null) {
            return alias(client, engine);
        }
        if (client != null) {
            String place = span.traceId() + span.spanId();
            clientIds.put(place, client);
            String waiting = engineIds.remove(place);
            return waiting == null ? null : alias(client, waiting);
        }
        if (engine != null && span.parentSpanId() != null) {
            String parent = span.traceId() + span.parentSpanId();
            String known = clientIds.get(parent);
            if (known != null) {
                return alias(known, engine);
            }
            engineIds.put(parent, engine);
        }
        return null;
    }

    private static @Nullable IdAliased alias(String client, String engine) {
        return client.equals(engine) || client.equals(wrappedId(engine))
                ? null
                : new IdAliased(client, engine, "otlp-parent");
    }
}
