package io.tokenstair.rule.lint;

import io.tokenstair.rule.RuleException;
import java.util.Locale;

/**
 * Something wrong with a rule that can be read.
 *
 * @param level how bad it is
 * @param place what is wrong and what to do, with the line and a caret
 */
public record LintProblem(Level level, RuleException place) {
    /** How bad a problem is. */
    public enum Level {
        /** The rule can never match, or cannot be trusted: it is not to be used. */
        ERROR,
        /** A part of the rule does nothing, or it will match less than it seems to. */
        WARNING;

        /** The name people see. */
        public String levelName() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** The file. */
    public String file() {
        return place.file();
    }

    /** The line, from 1. */
    public int line() {
        return place.line();
    }

    /** The column, from 1. */
    public int column() {
        return place.column();
    }

    /** {@code file:line:column: what is wrong}, the line, and a caret. */
    public String text() {
        return String.valueOf(place.getMessage());
    }

    /** What is wrong, without place, line and caret. */
    public String headline() {
        String first = text().lines().findFirst().orElse("");
        return first.substring((file() + ":" + line() + ":" + column() + ": ").length());
    }
}
