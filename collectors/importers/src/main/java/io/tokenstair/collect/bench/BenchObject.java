package io.tokenstair.collect.bench;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.tokenstair.collect.input.Fields;
import io.tokenstair.collect.input.JsonObjects;
import io.tokenstair.collect.input.RejectedRecordException;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One JSON object of a benchmark's file: its single values, and its lists with a value per request. Lists are columns of numbers, at
 * most {@value #MAX_REQUESTS} requests and {@value #MAX_GAPS} gaps; texts that were generated are passed over.
 */
final class BenchObject {
    static final int MAX_REQUESTS = 1 << 20;
    static final int MAX_GAPS = 12_000_000;
    private static final int MAX_VALUES = 1_024;

    private final Map<String, String> texts = new HashMap<>();
    private final Map<String, Double> numbers = new HashMap<>();
    private final Map<String, Column> columns = new HashMap<>();
    /** Whether a request failed: a text that is not empty in {@code errors}; null without that list. */
    private @Nullable Column failures;

    private @Nullable Column gaps;
    private @Nullable Column gapEnds;
    /** Why the object ended early; null when it is whole. */
    private @Nullable String defect;

    /** Numbers in the order they came. */
    static final class Column {
        private double[] values = new double[16];
        private int size;

        void add(double value) {
            if (size == values.length) {
                values = Arrays.copyOf(values, size * 2);
            }
            values[size++] = value;
        }

        int size() {
            return size;
        }

        double at(int index) {
            return values[index];
        }

        boolean anyAboveZero() {
            return Arrays.stream(values, 0, size).anyMatch(value -> value > 0);
        }
    }

    private BenchObject() {}

    /** Reads the object that the parser stands on. One that is cut keeps what came before. */
    static BenchObject read(JsonParser parser) throws IOException {
        BenchObject object = new BenchObject();
        try {
            object.fields(parser);
        } catch (RejectedRecordException e) {
            object.defect = e.reason();
        }
        return object;
    }

    private void fields(JsonParser parser) throws IOException, RejectedRecordException {
        while (true) {
            JsonToken token = JsonObjects.token(parser);
            if (token == JsonToken.END_OBJECT) {
                return;
            }
            if (token != JsonToken.FIELD_NAME) {
                throw new RejectedRecordException("not valid JSON: it ends inside a value (cut?)");
            }
            String name = parser.currentName();
            JsonToken value = JsonObjects.token(parser);
            if (value == JsonToken.START_ARRAY) {
                switch (name) {
                    case "itls" -> itls(parser);
                    case "errors" -> failures = failures(parser);
                    case "ttfts", "input_lens", "output_lens", "start_times", "cached_tokens" ->
                        columns.put(name, numbers(parser));
                    default -> passOver(parser);
                }
            } else if (value == JsonToken.START_OBJECT) {
                passOver(parser);
            } else if (value == JsonToken.VALUE_STRING) {
                String text = text(parser);
                if (text != null && texts.size() < MAX_VALUES) {
                    texts.put(name, text);
                }
            } else if (value != null && value.isNumeric() && numbers.size() < MAX_VALUES) {
                numbers.put(name, number(parser));
            }
        }
    }

    /** A text that is short enough for a name; null for any other. */
    private static @Nullable String text(JsonParser parser) throws IOException, RejectedRecordException {
        try {
            return parser.getTextLength() > 256 ? null : Fields.bounded(parser.getText(), "text");
        } catch (RejectedRecordException e) {
            return null;
        } catch (IOException e) {
            throw JsonObjects.reason(e);
        }
    }

    private static double number(JsonParser parser) throws IOException, RejectedRecordException {
        try {
            return parser.getDoubleValue();
        } catch (IOException e) {
            throw JsonObjects.reason(e);
        }
    }

    /** What is no number becomes NaN. */
    private static Column numbers(JsonParser parser) throws IOException, RejectedRecordException {
        Column column = new Column();
        for (JsonToken token = element(parser); token != JsonToken.END_ARRAY; token = element(parser)) {
            boolean numeric = token.isNumeric();
            if (token.isStructStart()) {
                passOver(parser);
            }
            if (column.size() == MAX_REQUESTS) {
                throw new RejectedRecordException("more than " + MAX_REQUESTS + " requests in one run");
            }
            column.add(numeric ? number(parser) : Double.NaN);
        }
        return column;
    }

    private static Column failures(JsonParser parser) throws IOException, RejectedRecordException {
        Column column = new Column();
        for (JsonToken token = element(parser); token != JsonToken.END_ARRAY; token = element(parser)) {
            boolean failed;
            if (token == JsonToken.VALUE_STRING) {
                try {
                    failed = parser.getTextLength() > 0;
                } catch (IOException e) {
                    throw JsonObjects.reason(e);
                }
            } else {
                failed = token != JsonToken.VALUE_NULL && token != JsonToken.VALUE_FALSE;
            }
            if (token.isStructStart()) {
                passOver(parser);
            }
            if (column.size() == MAX_REQUESTS) {
                throw new RejectedRecordException("more than " + MAX_REQUESTS + " requests in one run");
            }
            column.add(failed ? 1 : 0);
        }
        return column;
    }

    private void itls(JsonParser parser) throws IOException, RejectedRecordException {
        Column all = new Column();
        Column ends = new Column();
        gaps = all;
        gapEnds = ends;
        for (JsonToken token = element(parser); token != JsonToken.END_ARRAY; token = element(parser)) {
            if (ends.size() == MAX_REQUESTS) {
                throw new RejectedRecordException("more than " + MAX_REQUESTS + " requests in one run");
            }
            if (token == JsonToken.START_ARRAY) {
                for (JsonToken gap = element(parser); gap != JsonToken.END_ARRAY; gap = element(parser)) {
                    boolean numeric = gap.isNumeric();
                    if (gap.isStructStart()) {
                        passOver(parser);
                    }
                    if (all.size() == MAX_GAPS) {
                        throw new RejectedRecordException("more than " + MAX_GAPS + " gaps in one run");
                    }
                    all.add(numeric ? number(parser) : Double.NaN);
                }
            } else {
                if (token.isStructStart()) {
                    passOver(parser);
                }
                // No list: a gap that cannot be refuses the request.
                all.add(Double.NaN);
            }
            ends.add(all.size());
        }
    }

    private static JsonToken element(JsonParser parser) throws IOException, RejectedRecordException {
        JsonToken token = JsonObjects.token(parser);
        if (token == null) {
            throw new RejectedRecordException("not valid JSON: it ends inside a value (cut?)");
        }
        return token;
    }

    private static void passOver(JsonParser parser) throws IOException, RejectedRecordException {
        int depth = 1;
        while (depth > 0) {
            JsonToken token = element(parser);
            depth += token.isStructStart() ? 1 : token.isStructEnd() ? -1 : 0;
        }
    }

    @Nullable
    String text(String name) {
        return texts.get(name);
    }

    /** A number as it stands, NaN and infinity included; null when absent. */
    @Nullable
    Double number(String name) {
        return numbers.get(name);
    }

    /** A finite number above 0; null when absent or anything else. */
    @Nullable
    Double positive(String name) {
        Double number = numbers.get(name);
        return number == null || !Double.isFinite(number) || number <= 0 ? null : number;
    }

    /** A list with a number per request; null when absent. */
    @Nullable
    Column column(String name) {
        return columns.get(name);
    }

    @Nullable
    Column failures() {
        return failures;
    }

    /** Requests whose gaps are there; null without the list. */
    @Nullable
    Integer gapLists() {
        return gapEnds == null ? null : Integer.valueOf(gapEnds.size());
    }

    /** The gaps of a request, in seconds. */
    double[] gaps(int request) {
        if (gaps == null || gapEnds == null) {
            return new double[0];
        }
        int from = request == 0 ? 0 : (int) gapEnds.at(request - 1);
        return Arrays.copyOfRange(gaps.values, from, (int) gapEnds.at(request));
    }

    @Nullable
    String defect() {
        return defect;
    }

    /** Whether anything of it is a list with a value per request. */
    boolean hasLists() {
        return column("ttfts") != null || gapEnds != null;
    }
}
