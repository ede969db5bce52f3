package io.tokenstair.look.rule;

import io.tokenstair.look.text.Terminal;
import io.tokenstair.rule.bound.BoundRule;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;

/**
 * Rules as lines whose columns stand below each other.
 *
 * @param idWidth width of the longest id
 * @param causeWidth width of the longest cause
 */
record RuleColumns(int idWidth, int causeWidth) {
    private static final int VERSION_WIDTH = 3;
    private static final int KEY_WIDTH = 7;
    private static final int SEVERITY_WIDTH = 8;

    static RuleColumns of(List<BoundRule> rules) {
        return new RuleColumns(widest(rules, BoundRule::id), widest(rules, BoundRule::causeText));
    }

    private static int widest(List<BoundRule> rules, Function<BoundRule, String> text) {
        return rules.stream().map(text).mapToInt(String::length).max().orElse(0);
    }

    /** Id, version, key, cause, severity. */
    String columns(Terminal terminal, BoundRule rule) {
        String severity = Terminal.left(rule.severity().severityName(), SEVERITY_WIDTH);
        String coloured = switch (rule.severity()) {
            case CRITICAL -> terminal.styled(Terminal.Style.RED, severity);
            case WARNING -> terminal.styled(Terminal.Style.YELLOW, severity);
            case INFO -> severity;
        };
        return terminal.styled(Terminal.Style.BOLD, Terminal.left(rule.id(), idWidth)) + "  "
                + Terminal.right(Integer.toString(rule.revision()), VERSION_WIDTH) + "  "
                + Terminal.left(rule.key().name().toLowerCase(Locale.ROOT), KEY_WIDTH) + "  "
                + Terminal.left(rule.causeText(), causeWidth) + "  " + coloured;
    }

    /** Writes a rule: its columns, then as much of what it finds as the line holds. */
    void line(Terminal terminal, BoundRule rule) throws IOException {
        int used = idWidth + VERSION_WIDTH + KEY_WIDTH + causeWidth + SEVERITY_WIDTH + 2 * 5;
        String description = RuleJson.oneLine(rule.description());
        int room = Math.max(terminal.columns() - used, 30);
        terminal.line(columns(terminal, rule) + "  " + terminal.cut(description, room));
    }
}
