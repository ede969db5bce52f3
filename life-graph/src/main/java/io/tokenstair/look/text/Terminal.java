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

    /** Safe text of at most {@code width} columns: a longer one keeps its two ends. */
    public String fit(String text, int width) {
        String escaped = safe(text);
        if (width(escaped) <= width) {
            return escaped;
        }
        int head = width / 2;
        int end = escaped.length();
        for (int free = width - 1 - head; ; ) {
            int character = escaped.codePointBefore(end);
            free -= width(character);
            if (free < 0) {
                break;
            }
            end -= Character.charCount(character);
        }
        return escaped.substring(0, within(escaped, head)) + drawn("…", "~") + escaped.substring(end);
    }

    /** Safe text of at most {@code width} columns: a longer one ends early. */
    public String cut(String text, int width) {
        String escaped = safe(text);
        return width(escaped) <= width ? escaped : escaped.substring(0, within(escaped, width - 1)) + drawn("…", "~");
    }

    /** Columns that a text takes: two for a character of Chinese, Japanese or Korean and for an emoji, none for a mark on another. */
    static int width(CharSequence text) {
        return text.codePoints().map(Terminal::width).sum();
    }

    private static int width(int character) {
        if (character < 0x300) {
            return 1;
        }
        int type = Character.getType(character);
        if (type == Character.NON_SPACING_MARK || type == Character.ENCLOSING_MARK) {
            return 0;
        }
        boolean wide = character >= 0x1100 && character <= 0x115F
                || character >= 0x2E80 && character <= 0xA4CF && character != 0x303F
                || character >= 0xAC00 && character <= 0xD7A3
                || character >= 0xF900 && character <= 0xFAFF
                || character >= 0xFE30 && character <= 0xFE6F
                || character >= 0xFF00 && character <= 0xFF60
                || character >= 0xFFE0 && character <= 0xFFE6
                || character >= 0x20000 && character <= 0x3FFFD
                || character >= 0x1F300 && character <= 0x1FAFF;
        return wide ? 2 : 1;
    }

    /** Where the characters end that take at most so many columns. */
    private static int within(String text, int columns) {
        int end = 0;
        for (int free = columns; end < text.length(); end += Character.charCount(text.codePointAt(end))) {
            free -= width(text.codePointAt(end));
            if (free < 0) {
                break;
            }
        }
        return end;
    }

    /** The columns of a word up to where it may break first. */
    private static int headWidth(String word) {
        int columns = 0;
        for (int at = 0; at < word.length(); at += Character.charCount(word.codePointAt(at))) {
            int next = width(word.codePointAt(at));
            if (next == 2) {
                return columns + next;
            }
            columns += next;
        }
        return columns;
    }

    /** The text filled with spaces on its right. */
    public static String left(String text, int width) {
        int length = width(text);
        return length >= width ? text : text + " ".repeat(width - length);
    }

    /** The text filled with spaces on its left. */
    public static String right(String text, int width) {
        int length = width(text);
        return length >= width ? text : " ".repeat(width - length) + text;
    }

    /** Safe text broken at spaces into lines of at most {@code width} columns, and between wide characters; a longer word keeps a line of its own. */
    public static List<String> wrapped(String text, int width) {
        List<String> lines = new ArrayList<>();
        StringBuilder line = new StringBuilder();
        for (String word : text.replaceAll("\\s+", " ").split(" ", -1)) {
            String escaped = safe(word);
            if (line.length() > 0 && width(line) + 1 + headWidth(escaped) > width) {
                lines.add(line.toString());
                line.setLength(0);
            }
            if (line.length() > 0) {
                line.append(' ');
            }
            escaped.codePoints().forEach(character -> {
                // Between wide characters a line may break; a mark that closes does not begin one.
                if (width(character) == 2
                        && "，。；：、）".indexOf(character) < 0
                        && line.length() > 0
                        && width(line) + 4 > width) {
                    lines.add(line.toString().stripTrailing());
                    line.setLength(0);
                }
                line.appendCodePoint(character);
            });
        }
        if (line.length() > 0) {
            lines.add(line.toString());
        }
        return lines;
    }
}
