package io.tokenstair.look.text;

import java.io.IOException;
import java.io.Writer;
import java.util.ArrayList;
import java.util.List;

/**
 * Where text goes, and what it can show: colour, block glyphs, width in columns. Everything that came from outside passes
 * {@link #safe} first, so that no id can steer the terminal.
 */
public final class Terminal {
    /** A way to set text apart. Colour never says anything that the words do not. */
    public enum Style {
        /** Headings and names. */
        BOLD("1"),
        /** Less important. */
        DIM("2"),
        /** Bad. */
        RED("31"),
        /** Worth a look. */
        YELLOW("33"),
        /** Fine. */
        GREEN("32"),
        /** Links to other things. */
        CYAN("36");

        private final String code;

        Style(String code) {
            this.code = code;
        }
    }

    private static final int MIN_COLUMNS = 60;
    private static final int MAX_COLUMNS = 200;

    private final Writer out;
    private final boolean colour;
    private final boolean glyphs;
    private final int columns;

    /**
     * A terminal.
     *
     * @param out where the characters go
     * @param colour whether escape sequences may be written
     * @param glyphs whether characters beyond ASCII may be used for drawing
     * @param columns width; held between 60 and 200
     */
    public Terminal(Writer out, boolean colour, boolean glyphs, int columns) {
        this.out = out;
        this.colour = colour;
        this.glyphs = glyphs;
        this.columns = Math.max(MIN_COLUMNS, Math.min(MAX_COLUMNS, columns));
    }

    /** Width in columns. */
    public int columns() {
        return columns;
    }

    /** Writes a line. */
    public void line(String text) throws IOException {
        int end = text.length();
        while (end > 0 && text.charAt(end - 1) == ' ') {
            end--;
        }
        out.write(text, 0, end);
        out.write('\n');
    }

    /** Writes an empty line. */
    public void line() throws IOException {
        out.write('\n');
    }

    /** The text in a style, as it is where colour is off. */
    public String styled(Style style, String text) {
        return colour ? "\u001b[" + style.code + "m" + text + "\u001b[0m" : text;
    }

    /** One of two forms of a drawing: the first where glyphs can be shown. */
    public String drawn(String glyph, String ascii) {
        return glyphs ? glyph : ascii;
    }

    /** Text from outside with every character escaped that could move the cursor, hide or reorder text. */
    public static String safe(String text) {
        StringBuilder escaped = new StringBuilder(text.length());
        text.codePoints().forEach(character -> {
            if (isPlain(character)) {
                escaped.appendCodePoint(character);
            } else if (character < 0x10000) {
                escaped.append(String.format("\\u%04x", character));
            } else {
                escaped.append(String.format("\\U%08x", character));
            }
        });
        return escaped.toString();
    }

    private static boolean isPlain(int character) {
        return switch (Character.getType(character)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.PRIVATE_USE,
                    Character.UNASSIGNED,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR -> false;
            default -> true;
        };
    }

    /** Safe text of at most {@code width} characters: a longer one keeps its two ends. */
    public String fit(String text, int width) {
        String escaped = safe(text);
        if (escaped.codePointCount(0, escaped.length()) <= width) {
            return escaped;
        }
        String cut = drawn("…", "~");
        int head = (width - 1 + 1) / 2;
        int tail = width - 1 - head;
        int length = escaped.codePointCount(0, escaped.length());
        return escaped.substring(0, escaped.offsetByCodePoints(0, head))
                + cut
                + escaped.substring(escaped.offsetByCodePoints(0, length - tail));
    }

    /** Safe text of at most {@code width} characters: a longer one ends early. */
    public String cut(String text, int width) {
        String escaped = safe(text);
        if (escaped.codePointCount(0, escaped.length()) <= width) {
            return escaped;
        }
        return escaped.substring(0, escaped.offsetByCodePoints(0, width - 1)) + drawn("…", "~");
    }

    /** The text filled with spaces on its right. */
    public static String left(String text, int width) {
        int length = text.codePointCount(0, text.length());
        return length >= width ? text : text + " ".repeat(width - length);
    }

    /** The text filled with spaces on its left. */
    public static String right(String text, int width) {
        int length = text.codePointCount(0, text.length());
        return length >= width ? text : " ".repeat(width - length) + text;
    }

    /** Safe text broken at spaces into lines of at most {@code width} characters; a longer word keeps a line of its own. */
    public static List<String> wrapped(String text, int width) {
        List<String> lines = new ArrayList<>();
        StringBuilder line = new StringBuilder();
        for (String word : text.replaceAll("\\s+", " ").split(" ", -1)) {
            String escaped = safe(word);
            if (line.length() > 0 && line.length() + 1 + escaped.length() > width) {
                lines.add(line.toString());
                line.setLength(0);
            }
            if (line.length() > 0) {
                line.append(' ');
            }
            line.append(escaped);
        }
        if (line.length() > 0) {
            lines.add(line.toString());
        }
        return lines;
    }
}
