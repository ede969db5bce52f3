package io.tokenstair.collect.engine.dynamo;

import com.fasterxml.jackson.databind.JsonNode;
import io.tokenstair.clock.HostClocks;
import io.tokenstair.collect.input.Fields;
import io.tokenstair.collect.input.MsgpackTrees;
import io.tokenstair.collect.input.RejectedRecordException;
import io.tokenstair.collect.live.EngineName;
import io.tokenstair.collect.live.Source;
import io.tokenstair.collect.live.ZmqReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Forward passes as they are published over ZeroMQ, in both forms: by an engine itself (topic, sequence, record) and over Dynamo's event
 * plane (topic, publisher, sequence, and an envelope that holds the record). A pass is dated when it was read. A counter that skips is a
 * loss; one that goes back is a worker that was started anew. Holds the counters of at most {@value #MAX_WORKERS} workers; beyond, the one
 * that has been quiet longest is forgotten.
 */
public final class ForwardPassStream implements ZmqReader.Messages {
    /** The topic on Dynamo's event plane. */
    public static final String TOPIC = "forward-pass-metrics";

    private static final int MAX_WORKERS = 4_096;
    private static final int ENVELOPE_VERSION = 1;
    private static final int ENVELOPE_HEADER_BYTES = 5;

    private final Source source;
    private final @Nullable String engine;
    private final Map<String, Long> counters = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Long> eldest) {
            return size() > MAX_WORKERS;
        }
    };

    /**
     * A stream of which nothing was heard.
     *
     * @param source counts and tells
     */
    ForwardPassStream(Source source) {
        this(source, null);
    }

    private ForwardPassStream(Source source, @Nullable String engine) {
        this.source = source;
        this.engine = engine;
    }

    /**
     * The stream of one engine of a known name, whatever its passes call their worker; a rank above 0 is an engine of its own.
     *
     * @param source counts and tells
     * @param engine what the engine is called
     */
    public static ForwardPassStream of(Source source, String engine) {
        return new ForwardPassStream(source, engine);
    }

    @Override
    public void message(List<byte[]> frames, long nowNanos) {
        try {
            ForwardPass pass = ForwardPass.read(record(frames), engine);
            if (engine != null) {
                pass = pass.of(EngineName.ofRank(engine, pass.dpRank()));
            }
            Long before = counters.put(pass.key(), pass.counter());
            if (before != null && pass.counter() == before) {
                // Two ways to the same publisher.
                return;
            }
            if (before != null && pass.counter() > before + 1) {
                source.lost(source.label() + " worker " + pass.key(), before + 1, pass.counter() - 1, nowNanos);
            }
            pass.tell(source.label(), HostClocks.elapsedId(), nowNanos, null, source.events());
            source.taken();
        } catch (RejectedRecordException refused) {
            source.rejected(refused.reason());
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }

    /** The record of a message. */
    static Fields record(List<byte[]> frames) throws RejectedRecordException {
        if (frames.size() == 3) {
            return MsgpackTrees.fields(frames.get(2));
        }
        if (frames.size() != 4) {
            throw new RejectedRecordException(
                    frames.size() + " frames; a forward pass has 3, or 4 over Dynamo's event plane");
        }
        byte[] framed = frames.get(3);
        if (framed.length < ENVELOPE_HEADER_BYTES
                || framed[0] != ENVELOPE_VERSION
                || ByteBuffer.wrap(framed).getInt(1) != framed.length - ENVELOPE_HEADER_BYTES) {
            throw new RejectedRecordException(
                    "no envelope of version " + ENVELOPE_VERSION + " of Dynamo's event plane");
        }
        byte[] envelope = Arrays.copyOfRange(framed, ENVELOPE_HEADER_BYTES, framed.length);
        JsonNode payload = MsgpackTrees.fields(envelope).raw("payload");
        try {
            if (payload == null || !payload.isBinary()) {
                throw new RejectedRecordException("field payload: missing, or no bytes");
            }
            return MsgpackTrees.fields(payload.binaryValue());
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }
}
