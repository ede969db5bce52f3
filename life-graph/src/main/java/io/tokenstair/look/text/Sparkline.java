package io.tokenstair.look.text;

import java.util.Arrays;

/** Gaps of tokens as one line of blocks: the worst gap of each column, on a logarithmic scale. */
final class Sparkline {
    private static final String GLYPHS = "▁▂▃▄▅▆▇█";
    private static final String ASCII = "_.,-~=+#";
    private static final long UNKNOWN = -1;

    private final long[] worst;
    private int tokens;
    private int tokensPerColumn = 1;

    Sparkline(int columns) {
        this.worst = new long[Math.max(2, columns - columns % 2)];
        Arrays.fill(worst, UNKNOWN);
    }

    /** Adds the gap of the next token; a negative one is unknown. Halves the resolution when the columns are used up. */
    void add(long gapNanos) {
        if (tokens == worst.length * tokensPerColumn) {
            for (int column = 0; column < worst.length / 2; column++) {
                worst[column] = Math.max(worst[2 * column], worst[2 * column + 1]);
            }
            Arrays.fill(worst, worst.length / 2, worst.length, UNKNOWN);
            tokensPerColumn *= 2;
        }
        int column = tokens / tokensPerColumn;
        worst[column] = Math.max(worst[column], gapNanos);
        tokens++;
    }

    int tokensPerColumn() {
        return tokensPerColumn;
    }

    /** Columns in use. */
    int columns() {
        return (tokens + tokensPerColumn - 1) / tokensPerColumn;
    }

    /** The line; a column without a known gap is empty. */
    String draw(Terminal terminal) {
        String scale = terminal.drawn(GLYPHS, ASCII);
        long largest = Arrays.stream(worst).max().orElse(UNKNOWN);
        long smallest = Arrays.stream(worst).filter(gap -> gap > 0).min().orElse(1);
        double span = Math.max(1e-9, Math.log((double) Math.max(largest, 1)) - Math.log((double) smallest));
        StringBuilder line = new StringBuilder();
        for (int column = 0; column < columns(); column++) {
            long gap = worst[column];
            if (gap < 0) {
                line.append(' ');
            } else {
                double height = gap <= smallest ? 0 : (Math.log((double) gap) - Math.log((double) smallest)) / span;
                // Gaps within a factor of two of each other are one level: noise must not look like a staircase.
                double cap = Math.min(1, span / Math.log(2) / (scale.length() - 1));
                line.append(scale.charAt((int) Math.round(height * cap * (scale.length() - 1))));
            }
        }
        return line.toString();
    }
}
