package io.tokenstair.collector;

import io.tokenstair.collector.reach.Seen;
import io.tokenstair.collector.reach.UsualPorts;
import io.tokenstair.gpu.Check;
import java.util.ArrayList;
import java.util.List;

/** What {@code tokenstair doctor} prints: aligned, no line longer than the terminal is wide. */
final class DoctorText {
    private static final String GREEN = "\u001b[32m";
    private static final String YELLOW = "\u001b[33m";
    private static final String RED = "\u001b[31m";
    private static final String DIM = "\u001b[2m";
    private static final String PLAIN = "\u001b[0m";
    private static final int MARK = 7;
    private static final String ARROW = "-> ";

    private DoctorText() {}

    /** What the machine has and lacks. */
    static String machine(List<Check> checks, boolean coloured, int width) {
        int names =
                checks.stream().mapToInt(check -> check.name().length()).max().orElse(0);
        StringBuilder text = new StringBuilder();
        int missing = 0;
        for (Check check : checks) {
            String mark = switch (check.status()) {
                case OK -> mark("ok", GREEN, coloured);
                case MISSING -> mark("missing", YELLOW, coloured);
                case OPTIONAL -> mark("-", DIM, coloured);
            };
            text.append(mark).append("  ").append(padded(check.name(), names)).append("  ");
            row(text, MARK + names + 4, width, check.found(), check.advice() == null ? "" : check.advice());
            missing += check.status() == Check.Status.MISSING ? 1 : 0;
        }
        text.append(missing == 0 ? "\nReady: ./tokenstair demo\n" : "\nMissing: " + missing + ", see above.\n");
        return text.toString();
    }

    /** What runs on the machine, and what to type to collect from it. */
    static String running(List<UsualPorts.Found> running, List<String> commands, boolean coloured, int width) {
        StringBuilder text = new StringBuilder("\nOn the usual ports of 127.0.0.1\n");
        for (UsualPorts.Found found : running) {
            text.append(found.isTaken() ? mark("found", GREEN, coloured) : mark("-", DIM, coloured))
                    .append("  ")
                    .append(padded(Integer.toString(found.usual().port()), 5))
                    .append("  ");
            row(
                    text,
                    MARK + 9,
                    width,
                    found.found() + " (usually " + found.usual().whose() + ")",
                    "");
        }
        if (commands.isEmpty()) {
            text.append("\nNo engine found there: name its address, as in\n")
                    .append("  tokenstair collect gateway --to ./log --upstream http://HOST:PORT\n");
        } else {
            text.append("\nTo collect from it\n");
            for (String command : commands) {
                text.append("  ").append(command(command, width - 4)).append('\n');
            }
        }
        return text.toString();
    }

    /** A command on one line, or broken before its options where it is too long, so that it can be copied. */
    private static String command(String command, int width) {
        return command.length() <= width ? command : command.replace(" --", " \\\n    --");
    }

    /** What the collectors of a file need, by collector. */
    static String reach(List<ReachRow> rows, boolean coloured, int width) {
        int subjects =
                rows.stream().mapToInt(row -> row.subject().length()).max().orElse(0);
        StringBuilder text = new StringBuilder();
        String heading = null;
        int failed = 0;
        int warned = 0;
        for (ReachRow row : rows) {
            if (!heading(row).equals(heading)) {
                heading = heading(row);
                text.append(text.length() == 0 ? "" : "\n").append(heading).append('\n');
            }
            String mark = switch (row.status()) {
                case OK -> mark("ok", GREEN, coloured);
                case WARNING -> mark("warning", YELLOW, coloured);
                case FAILED -> mark("failed", RED, coloured);
            };
            text.append("  ")
                    .append(mark)
                    .append("  ")
                    .append(padded(row.subject(), subjects))
                    .append("  ");
            int indent = MARK + subjects + 6;
            text.append(wrapped(row.address(), indent, width)).append('\n');
            text.append(" ".repeat(indent));
            row(text, indent, width, row.found(), row.advice() == null ? "" : row.advice());
            failed += row.status() == Seen.Status.FAILED ? 1 : 0;
            warned += row.status() == Seen.Status.WARNING ? 1 : 0;
        }
        if (failed == 0 && warned == 0) {
            text.append("\nAll ").append(rows.size()).append(" can be reached.\n");
        } else {
            text.append("\nFailed: ")
                    .append(failed)
                    .append(", warnings: ")
                    .append(warned)
                    .append(", of ");
            text.append(rows.size()).append(". What to do stands behind ->\n");
        }
        return text.toString();
    }

    private static String heading(ReachRow row) {
        if (!row.collector().isEmpty()) {
            return row.collector();
        }
        return row.subject().equals(Plan.METRICS_LISTEN) ? "its own figures" : "the log";
    }

    private static void row(StringBuilder text, int indent, int width, String found, String advice) {
        text.append(wrapped(found, indent, width)).append('\n');
        if (!advice.isEmpty()) {
            text.append(" ".repeat(indent)).append(ARROW);
            text.append(wrapped(advice, indent + ARROW.length(), width)).append('\n');
        }
    }

    private static String mark(String word, String colour, boolean coloured) {
        String mark = padded(word, MARK);
        return coloured ? colour + mark + PLAIN : mark;
    }

    private static String padded(String text, int length) {
        return text + " ".repeat(Math.max(0, length - text.length()));
    }

    /** A text from a column on, broken between words, and within words that are longer than a line. */
    static String wrapped(String text, int indent, int width) {
        int room = Math.max(20, width - indent);
        List<String> lines = new ArrayList<>();
        StringBuilder line = new StringBuilder();
        for (String word : text.split(" ", -1)) {
            String rest = word;
            if (line.length() > 0 && line.length() + 1 + rest.length() > room) {
                lines.add(line.toString());
                line.setLength(0);
            }
            line.append(line.length() == 0 ? "" : " ");
            while (line.length() + rest.length() > room) {
                int fits = room - line.length();
                lines.add(line + rest.substring(0, fits));
                line.setLength(0);
                rest = rest.substring(fits);
            }
            line.append(rest);
        }
        lines.add(line.toString());
        return String.join("\n" + " ".repeat(indent), lines);
    }
}
