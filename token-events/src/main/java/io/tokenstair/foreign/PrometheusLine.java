package io.tokenstair.foreign;

import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * One sample line of the Prometheus text format: name, labels sorted by name, value. A stamp or an exemplar after the value is
 * passed over.
 *
 * @param name metric name
 * @param labels {@code a="x",b="y"}, sorted by name, values escaped as in the format; empty without labels
 * @param value the sample
 */
public record PrometheusLine(String name, String labels, double value) {
    /** Longest name with its labels, in characters. */
    public static final int MAX_CHARACTERS = 4096;

    private static final Pattern NAME = Pattern.compile("[a-zA-Z_:][a-zA-Z0-9_:]*");
    private static final Pattern LABEL = Pattern.compile("[a-zA-Z_][a-zA-Z0-9_]*");
    private static final Pattern NUMBER = Pattern.compile("[+-]?(\\d+(\\.\\d*)?|\\.\\d+)([eE][+-]?\\d+)?");

    /** Reads a line that is neither blank nor a comment. */
    public static PrometheusLine parse(String line) throws ForeignFormatException {
        int end = 0;
        while (end < line.length() && line.charAt(end) != '{' && !space(line.charAt(end))) {
            end++;
        }
        String name = line.substring(0, end);
        if (name.length() > MAX_CHARACTERS || !NAME.matcher(name).matches()) {
            throw new ForeignFormatException("no metric name at the start of the line");
        }
        int at = skipSpace(line, end);
        String labels = "";
        if (at < line.length() && line.charAt(at) == '{') {
            TreeMap<String, String> sorted = new TreeMap<>();
            at = labels(line, at + 1, sorted);
            labels = joined(sorted);
            if (labels.length() > MAX_CHARACTERS) {
                throw new ForeignFormatException(
                        "labels of " + labels.length() + " characters, at most " + MAX_CHARACTERS);
            }
        }
        at = skipSpace(line, at);
        int valueEnd = at;
        while (valueEnd < line.length() && !space(line.charAt(valueEnd))) {
            valueEnd++;
        }
        double value = number(line.substring(at, valueEnd));
        String rest = line.substring(valueEnd).trim();
        int stampEnd = rest.indexOf(' ');
        String stamp = stampEnd < 0 ? rest : rest.substring(0, stampEnd);
        if (!stamp.isEmpty() && !stamp.startsWith("#") && !NUMBER.matcher(stamp).matches()) {
            throw new ForeignFormatException("something after the value that is no stamp");
        }
        return new PrometheusLine(name, labels, value);
    }

    private static boolean space(char c) {
        return c == ' ' || c == '\t';
    }

    private static int skipSpace(String line, int from) {
        int at = from;
        while (at < line.length() && space(line.charAt(at))) {
            at++;
        }
        return at;
    }

    private static int labels(String line, int from, Map<String, String> labels) throws ForeignFormatException {
        int at = skipSpace(line, from);
        while (at < line.length() && line.charAt(at) != '}') {
            int equals = line.indexOf('=', at);
            if (equals < 0) {
                throw new ForeignFormatException("labels without an end");
            }
            String name = line.substring(at, equals).trim();
            if (!LABEL.matcher(name).matches()) {
                throw new ForeignFormatException("a label without a valid name");
            }
            int quote = skipSpace(line, equals + 1);
            if (quote >= line.length() || line.charAt(quote) != '"') {
                throw new ForeignFormatException("a label without a quoted value");
            }
            int close = quote + 1;
            while (close < line.length() && line.charAt(close) != '"') {
                close += line.charAt(close) == '\\' ? 2 : 1;
            }
            if (close >= line.length()) {
                throw new ForeignFormatException("labels without an end");
            }
            if (labels.put(name, line.substring(quote + 1, close)) != null) {
                throw new ForeignFormatException("one label twice");
            }
            at = skipSpace(line, close + 1);
            if (at < line.length() && line.charAt(at) == ',') {
                at = skipSpace(line, at + 1);
            } else if (at < line.length() && line.charAt(at) != '}') {
                throw new ForeignFormatException("labels not separated by commas");
            }
        }
        if (at >= line.length()) {
            throw new ForeignFormatException("labels without an end");
        }
        return at + 1;
    }

    private static String joined(TreeMap<String, String> labels) {
        StringBuilder joined = new StringBuilder();
        for (Map.Entry<String, String> label : labels.entrySet()) {
            if (joined.length() > 0) {
                joined.append(',');
            }
            joined.append(label.getKey()).append("=\"").append(label.getValue()).append('"');
        }
        return joined.toString();
    }

    private static double number(String text) throws ForeignFormatException {
        switch (text) {
            case "NaN":
                return Double.NaN;
            case "+Inf", "Inf":
                return Double.POSITIVE_INFINITY;
            case "-Inf":
                return Double.NEGATIVE_INFINITY;
            default:
                break;
        }
        if (text.length() > 64 || !NUMBER.matcher(text).matches()) {
            throw new ForeignFormatException("no number where the value belongs");
        }
        return Double.parseDouble(text);
    }
}
