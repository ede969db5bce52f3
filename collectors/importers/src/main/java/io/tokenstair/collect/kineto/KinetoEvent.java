package io.tokenstair.collect.kineto;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import io.tokenstair.collect.input.Fields;
import io.tokenstair.collect.input.RejectedRecordException;
import java.io.IOException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * One event of a trace, reused for the next one. Bare NaN and Infinity, which profilers write into fields that nobody asks for, are no
 * mistake there; in a field that is needed they are.
 */
final class KinetoEvent {
    private static final JsonFactory JSON = new JsonFactoryBuilder()
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(Fields.MAX_DEPTH)
                    .maxNumberLength(64)
                    .maxNameLength(1 << 12)
                    .maxStringLength(8 << 20)
                    .build())
            .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
            .build();

    private static final long MOST_BLOCKS = 1L << 50;

    String phase = "";
    /** In lower case: older profilers write Kernel. */
    String category = "";

    String name = "";
    /** Process and thread as written. */
    String threadKey = "";

    /** From the trace's base; only events with a length and samples have it. */
    long startNanos;

    long durationNanos;

    @Nullable
    String device;

    @Nullable
    String stream;

    @Nullable
    Long correlation;

    @Nullable
    Long gridCount;

    @Nullable
    Long sharedMemoryBytes;

    @Nullable
    Long graphId;

    @Nullable
    String syncKind;

    boolean collective;

    @Nullable
    Long deviceType;

    @Nullable
    Long totalAllocatedBytes;

    @Nullable
    Long totalReservedBytes;

    private @Nullable String pid;
    private @Nullable String tid;
    private @Nullable String start;
    private @Nullable String duration;

    /** Reads an event. */
    void parse(byte[] bytes, int length) throws RejectedRecordException {
        clear();
        try (JsonParser json = JSON.createParser(bytes, 0, length)) {
            if (json.nextToken() != JsonToken.START_OBJECT) {
                throw new RejectedRecordException("not a JSON object");
            }
            while (json.nextToken() != JsonToken.END_OBJECT) {
                field(json, json.currentName());
            }
            if (json.nextToken() != null) {
                throw new RejectedRecordException("not valid JSON: more after its end");
            }
        } catch (StreamConstraintsException e) {
            throw new RejectedRecordException(
                    String.valueOf(e.getOriginalMessage()).contains("nesting depth")
                            ? "JSON nested deeper than " + Fields.MAX_DEPTH
                            : "JSON with a number or name too long");
        } catch (JsonProcessingException e) {
            throw new RejectedRecordException("not valid JSON");
        } catch (IOException e) {
            throw new RejectedRecordException("not valid JSON: not UTF-8");
        }
        finish();
    }

    private void clear() {
        phase = "";
        category = "";
        name = "";
        device = null;
        stream = null;
        correlation = null;
        gridCount = null;
        sharedMemoryBytes = null;
        graphId = null;
        syncKind = null;
        collective = false;
        deviceType = null;
        totalAllocatedBytes = null;
        totalReservedBytes = null;
        pid = null;
        tid = null;
        start = null;
        duration = null;
        startNanos = 0;
        durationNanos = 0;
    }

    private void field(JsonParser json, String field) throws IOException, RejectedRecordException {
        JsonToken token = json.nextToken();
        switch (field) {
            case "ph" -> phase = text(json, token, field);
            case "cat" -> category = text(json, token, field);
            case "name" -> name = text(json, token, field);
            case "pid" -> pid = id(json, token, field);
            case "tid" -> tid = id(json, token, field);
            case "ts" -> start = number(json, token, field);
            case "dur" -> duration = number(json, token, field);
            case "args" -> {
                if (token == JsonToken.START_OBJECT) {
                    while (json.nextToken() != JsonToken.END_OBJECT) {
                        argument(json, json.currentName());
                    }
                } else {
                    json.skipChildren();
                }
            }
            default -> json.skipChildren();
        }
    }

    private void argument(JsonParser json, String field) throws IOException, RejectedRecordException {
        JsonToken token = json.nextToken();
        switch (field) {
            case "device", "Device Id" -> device = id(json, token, field);
            case "stream", "stream_id" -> stream = id(json, token, field);
            case "correlation" -> correlation = whole(json, token, field);
            case "graph id" -> graphId = whole(json, token, field);
            case "shared memory" -> sharedMemoryBytes = whole(json, token, field);
            case "grid" -> gridCount = blocks(json, token, field);
            case "cuda_sync_kind" -> syncKind = text(json, token, field);
            case "Device Type" -> deviceType = whole(json, token, field);
            case "Total Allocated" -> totalAllocatedBytes = whole(json, token, field);
            case "Total Reserved" -> totalReservedBytes = whole(json, token, field);
            case "Collective name" -> {
                collective = true;
                json.skipChildren();
            }
            default -> json.skipChildren();
        }
    }

    private static String text(JsonParser json, JsonToken token, String field)
            throws IOException, RejectedRecordException {
        if (token != JsonToken.VALUE_STRING) {
            throw new RejectedRecordException("field " + field + ": not text");
        }
        return json.getText();
    }

    private static String number(JsonParser json, JsonToken token, String field)
            throws IOException, RejectedRecordException {
        if (token != JsonToken.VALUE_NUMBER_INT && token != JsonToken.VALUE_NUMBER_FLOAT) {
            throw new RejectedRecordException("field " + field + ": not a number");
        }
        return json.getText();
    }

    /** A number or text that names something; null for -1 and 2^32 - 1, which stand for none. */
    private static @Nullable String id(JsonParser json, JsonToken token, String field)
            throws IOException, RejectedRecordException {
        if (token != JsonToken.VALUE_NUMBER_INT && token != JsonToken.VALUE_STRING) {
            throw new RejectedRecordException("field " + field + ": neither a whole number nor text");
        }
        String id = json.getText();
        if (id.length() > 64) {
            throw new RejectedRecordException("field " + field + ": more than 64 characters");
        }
        return id.equals("-1") || id.equals("4294967295") || id.isEmpty() ? null : id;
    }

    private static @Nullable Long whole(JsonParser json, JsonToken token, String field)
            throws IOException, RejectedRecordException {
        if (token == JsonToken.VALUE_NULL) {
            return null;
        }
        String digits = token == JsonToken.VALUE_NUMBER_INT || token == JsonToken.VALUE_STRING ? json.getText() : "";
        try {
            return Long.valueOf(digits);
        } catch (NumberFormatException e) {
            throw new RejectedRecordException("field " + field + ": not a whole number of 64 bits");
        }
    }

    private static @Nullable Long blocks(JsonParser json, JsonToken token, String field)
            throws IOException, RejectedRecordException {
        if (token != JsonToken.START_ARRAY) {
            json.skipChildren();
            return null;
        }
        long product = 1;
        int dimensions = 0;
        for (JsonToken next = json.nextToken(); next != JsonToken.END_ARRAY; next = json.nextToken()) {
            Long size = whole(json, next, field);
            dimensions++;
            if (size == null || size < 0 || size > MOST_BLOCKS || dimensions > 3) {
                throw new RejectedRecordException("field " + field + ": not the blocks of a grid");
            }
            product = StrictMath.multiplyHigh(product, size) == 0 ? product * size : -1;
            if (product < 0) {
                throw new RejectedRecordException("field " + field + ": more blocks than 64 bits hold");
            }
        }
        return dimensions == 0 ? null : Long.valueOf(product);
    }

    private void finish() throws RejectedRecordException {
        if (phase.isEmpty()) {
            throw new RejectedRecordException("field ph: missing");
        }
        category = category.toLowerCase(Locale.ROOT);
        threadKey = pid + " " + tid;
        boolean complete = phase.equals("X");
        if (complete && name.isEmpty()) {
            throw new RejectedRecordException("field name: missing");
        }
        if (start == null && complete) {
            throw new RejectedRecordException("field ts: missing");
        }
        if (duration == null && complete) {
            throw new RejectedRecordException("field dur: missing");
        }
        if (start != null && (complete || category.equals("cpu_instant_event"))) {
            startNanos = Micros.toNanos("ts", start);
        }
        if (duration != null && complete) {
            durationNanos = Micros.toNanos("dur", duration);
            if (durationNanos < 0) {
                throw new RejectedRecordException("field dur: negative");
            }
            if (startNanos > Long.MAX_VALUE / 4
                    || startNanos < -Long.MAX_VALUE / 4
                    || durationNanos > Long.MAX_VALUE / 4) {
                throw new RejectedRecordException("field ts or dur: out of range");
            }
        }
    }
}
