package io.tokenstair.rule;

import java.util.regex.Pattern;

/**
 * A rule that cannot be used, with the place of the mistake.
 *
 * <p>The message is made for people: {@code file:line:column: what is wrong}, the line, and a caret under the place.
 */
public final class RuleException extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private static final int SHOWN_COLUMNS = 120;
    private static final int SHOWN_PROBLEM_LENGTH = 2000;
    /** A word longer than a line: its first 80 characters tell enough. */
    private static final Pattern LONG_WORD = Pattern.compile("(\\S{80})\\S{20,}");

    private final String file;
    private final int line;
    private final int column;

    /**
     * @param file the name of the rule file
     * @param line from 1
     * @param column from 1, in characters
     * @param problem what is wrong and what to do
     * @param sourceLine the line of the file; empty where it has none
     */
    public RuleException(String file, int line, int column, String problem, String sourceLine) {
        super(file + ":" + line + ":" + column + ": " + printable(clipped(problem))
                + excerpt(line, column, sourceLine));
        this.file = file;
        this.line = line;
        this.column = column;
    }

    /** The name of the rule file. */
    public String file() {
        return file;
    }

    /** The line, from 1. */
    public int line() {
        return line;
    }

    /** The column, from 1. */
    public int column() {
        return column;
    }

    private static String excerpt(int line, int column, String sourceLine) {
        if (sourceLine.isBlank()) {
            return "";
        }
        int caret = Math.min(Math.max(column - 1, 0), sourceLine.length());
        // A long line is cut so that the caret stays on the screen.
        int from = caret > SHOWN_COLUMNS - 20 ? caret - SHOWN_COLUMNS / 2 : 0;
        int to = Math.min(sourceLine.length(), from + SHOWN_COLUMNS);
        String number = String.valueOf(line);
        return "\n  " + number + " | " + printable(sourceLine.substring(from, to)) + "\n  "
                + " ".repeat(number.length()) + " | " + " ".repeat(caret - from) + "^";
    }

    private static String clipped(String problem) {
        String told = LONG_WORD.matcher(problem).replaceAll("$1...");
        return told.length() <= SHOWN_PROBLEM_LENGTH ? told : told.substring(0, SHOWN_PROBLEM_LENGTH) + "...";
    }

    /** Control and format characters become spaces, one for one, so that a rule file cannot steer a terminal or move the caret. */
    private static String printable(String text) {
        StringBuilder printed = new StringBuilder(text.length());
        text.chars().forEach(c -> {
            boolean steers = Character.isISOControl(c) || Character.getType(c) == Character.FORMAT;
            printed.append(steers ? ' ' : (char) c);
        });
        return printed.toString();
    }
}
