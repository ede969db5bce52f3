package io.tokenstair.rule.bound;

import io.tokenstair.rule.syntax.DurationLiteral;
import io.tokenstair.rule.syntax.ScalarSyntax;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A condition with its duration literals written as CEL: {@code 50ms} becomes {@code duration("50ms")}. It remembers where each
 * character came from, so that an error in the CEL points into the rule file.
 */
final class ConditionText {
    private static final Pattern NUMBER = Pattern.compile("([0-9]+(?:\\.[0-9]+)?)([A-Za-z_][A-Za-z0-9_]*)?");
    private static final Pattern WORD = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");
    private static final Pattern CEL_SUFFIX = Pattern.compile("[uU]|[eE][0-9]*|x[0-9a-fA-F]+u?");

    private final ScalarSyntax where;
    private final StringBuilder cel = new StringBuilder();
    private final List<Integer> valueOffsets = new ArrayList<>();

    private ConditionText(ScalarSyntax where) {
        this.where = where;
    }

    /** The condition of a stage. */
    static ConditionText of(ScalarSyntax where) {
        ConditionText text = new ConditionText(where);
        text.expand();
        return text;
    }

    /** The CEL. */
    String cel() {
        return cel.toString();
    }

    /**
     * The index into the condition as written.
     *
     * @param celOffset index into the CEL, in code points
     */
    int valueOffset(int celOffset) {
        int index = cel.offsetByCodePoints(0, Math.min(Math.max(celOffset, 0), cel.codePointCount(0, cel.length())));
        return index < valueOffsets.size()
                ? valueOffsets.get(index)
                : where.value().length();
    }

    private void expand() {
        String value = where.value();
        Matcher number = NUMBER.matcher(value);
        Matcher word = WORD.matcher(value);
        int at = 0;
        while (at < value.length()) {
            char c = value.charAt(at);
            if (c == '"' || c == '\'') {
                at = copy(at, quoteEnd(at, false));
            } else if (value.startsWith("//", at)) {
                int lineEnd = value.indexOf('\n', at);
                at = copy(at, lineEnd < 0 ? value.length() : lineEnd);
            } else if (Character.isDigit(c) && number.region(at, value.length()).lookingAt()) {
                at = number(at, number);
            } else if (word.region(at, value.length()).lookingAt()) {
                int end = word.end();
                boolean raw = word.group().toLowerCase(Locale.ROOT).matches("r|rb|br");
                boolean quoted = end < value.length() && (value.charAt(end) == '"' || value.charAt(end) == '\'');
                at = copy(at, quoted && raw ? quoteEnd(end, true) : end);
            } else {
                at = copy(at, at + 1);
            }
        }
    }

    private int number(int at, Matcher number) {
        String suffix = number.group(2);
        if (suffix == null || CEL_SUFFIX.matcher(suffix).matches()) {
            return copy(at, number.end());
        }
        String literal = number.group();
        OptionalLong nanos = DurationLiteral.nanos(literal);
        if (nanos.isEmpty()) {
            throw where.errorAt(
                    at, "Cannot read duration: " + literal + ". Known units: ns, us, ms, s, m, h, as in 50ms or 1.5s");
        }
        for (char c : ("duration(\"" + nanos.getAsLong() + "ns\")").toCharArray()) {
            cel.append(c);
            valueOffsets.add(at);
        }
        return number.end();
    }

    private int copy(int from, int to) {
        for (int i = from; i < to; i++) {
            cel.append(where.value().charAt(i));
            valueOffsets.add(i);
        }
        return to;
    }

    /** The index after a string literal; the end of the condition where it is not closed, which CEL then reports. */
    private int quoteEnd(int from, boolean raw) {
        String value = where.value();
        String quote = value.substring(from, from + 1);
        String fence = value.startsWith(quote.repeat(3), from) ? quote.repeat(3) : quote;
        int at = from + fence.length();
        while (at < value.length() && !value.startsWith(fence, at)) {
            at += value.charAt(at) == '\\' && !raw ? 2 : 1;
        }
        return Math.min(value.length(), at + fence.length());
    }
}
