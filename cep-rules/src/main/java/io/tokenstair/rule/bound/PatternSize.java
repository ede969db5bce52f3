package io.tokenstair.rule.bound;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How long a regular expression of RE2 is once its repetitions are written out, about: RE2 writes them out before it looks at any bound, so
 * that {@code ((a{1000}){1000}){1000}} would take all memory there is. Reads the text from left to right, once.
 */
final class PatternSize {
    private static final Pattern REPETITION = Pattern.compile("\\{(\\d{1,9})(,(\\d{0,9}))?\\}");

    private final String pattern;
    private final Deque<Long> around = new ArrayDeque<>();
    private long sum;
    private long last;
    private int at;

    private PatternSize(String pattern) {
        this.pattern = pattern;
    }

    /** The steps of a pattern written out; {@link Integer#MAX_VALUE} for more than that. */
    static int of(String pattern) {
        PatternSize size = new PatternSize(pattern);
        size.read();
        return (int) Math.min(Integer.MAX_VALUE, size.sum);
    }

    private void read() {
        while (at < pattern.length()) {
            char c = pattern.charAt(at);
            switch (c) {
                case '\\' -> escape();
                case '[' -> signs();
                case '(' -> {
                    around.push(sum);
                    sum = 0;
                    last = 0;
                    at++;
                }
                case ')' -> {
                    last = sum + 2;
                    sum = bounded((around.isEmpty() ? 0 : around.pop()) + last);
                    at++;
                }
                case '{' -> repetition();
                default -> atom(1);
            }
        }
        while (!around.isEmpty()) {
            sum = bounded(sum + around.pop());
        }
    }

    private static long bounded(long steps) {
        return Math.min(steps, Integer.MAX_VALUE);
    }

    private void atom(int length) {
        last = 1;
        sum = bounded(sum + 1);
        at += length;
    }

    private void escape() {
        if (pattern.startsWith("\\Q", at)) {
            int end = pattern.indexOf("\\E", at);
            int literal = (end < 0 ? pattern.length() : end) - at - 2;
            sum = bounded(sum + Math.max(0, literal));
            last = 1;
            at = end < 0 ? pattern.length() : end + 2;
            return;
        }
        boolean named = at + 2 < pattern.length()
                && "pPx".indexOf(pattern.charAt(at + 1)) >= 0
                && pattern.charAt(at + 2) == '{';
        int close = named ? pattern.indexOf('}', at) : -1;
        atom(close < 0 ? 2 : close + 1 - at);
    }

    /** A set of signs, in which brackets and braces mean themselves. */
    private void signs() {
        int end = at + 1;
        end += pattern.startsWith("^", end) ? 1 : 0;
        end += pattern.startsWith("]", end) ? 1 : 0;
        while (end < pattern.length() && pattern.charAt(end) != ']') {
            boolean inner = pattern.startsWith("[:", end) && pattern.indexOf(":]", end) > 0;
            end = inner ? pattern.indexOf(":]", end) + 2 : end + (pattern.charAt(end) == '\\' ? 2 : 1);
        }
        atom(end + 1 - at);
    }

    private void repetition() {
        Matcher repetition = REPETITION.matcher(pattern).region(at, pattern.length());
        if (!repetition.lookingAt()) {
            atom(1);
            return;
        }
        long least = Long.parseLong(repetition.group(1));
        String written = repetition.group(3);
        long most = written == null ? least : written.isEmpty() ? least + 1 : Long.parseLong(written);
        long steps = bounded(Math.max(1, Math.max(least, most)) * (last + 1));
        sum = bounded(sum - last + steps);
        last = steps;
        at = repetition.end();
    }
}
