package io.tokenstair.rule.syntax;

import io.tokenstair.rule.RuleException;
import java.util.ArrayList;
import java.util.List;

/** The text of one rule file and where its lines begin. */
public final class SourceText {
    private final String file;
    private final String text;
    private final List<Integer> lineStarts = new ArrayList<>();

    /**
     * @param file the name shown in errors
     * @param text the whole file
     */
    public SourceText(String file, String text) {
        this.file = file;
        this.text = text;
        lineStarts.add(0);
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            boolean crLf = c == '\r' && i + 1 < text.length() && text.charAt(i + 1) == '\n';
            if (c == '\n' || (c == '\r' && !crLf)) {
                lineStarts.add(i + 1);
            }
        }
    }

    /** The name shown in errors. */
    public String file() {
        return file;
    }

    /** The whole file. */
    public String text() {
        return text;
    }

    /**
     * An error at a place of this file.
     *
     * @param offset index into {@link #text()}
     * @param problem what is wrong and what to do
     */
    public RuleException error(int offset, String problem) {
        int place = Math.min(Math.max(offset, 0), text.length());
        int line = lineOf(place);
        int start = lineStarts.get(line);
        int end = line + 1 < lineStarts.size() ? lineStarts.get(line + 1) : text.length();
        String sourceLine = text.substring(start, end).stripTrailing();
        return new RuleException(file, line + 1, place - start + 1, problem, sourceLine);
    }

    /**
     * The index into {@link #text()} of a place given as YAML marks give it.
     *
     * @param line from 0
     * @param column from 0, in code points
     */
    int offsetOf(int line, int column) {
        int known = Math.min(Math.max(line, 0), lineStarts.size() - 1);
        int offset = lineStarts.get(known);
        for (int i = 0; i < column && offset < text.length(); i++) {
            offset += Character.charCount(text.codePointAt(offset));
        }
        return offset;
    }

    private int lineOf(int offset) {
        int line = 0;
        while (line + 1 < lineStarts.size() && lineStarts.get(line + 1) <= offset) {
            line++;
        }
        return line;
    }
}
