package io.tokenstair.look.rule;

import io.tokenstair.look.CommandFailures;
import io.tokenstair.rule.RuleException;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.library.RuleLibrary;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/**
 * The rules a command was asked about.
 *
 * @param rules those that are rules, in the order they were named
 * @param refused why the other files are none
 */
record RuleSet(List<BoundRule> rules, List<RuleException> refused) {
    /** The rules of files and folders; the built-in ones where none is named. */
    static RuleSet of(List<Path> named) {
        if (named.isEmpty()) {
            return new RuleSet(RuleLibrary.builtIn().rules(), List.of());
        }
        List<RuleFile> files = RuleFile.read(named);
        return new RuleSet(
                files.stream().map(RuleFile::rule).filter(Objects::nonNull).toList(),
                files.stream().map(RuleFile::refused).filter(Objects::nonNull).toList());
    }

    /** Says of each file that is no rule where and why: the place, the line, and a caret under it. */
    void tellRefused(PrintWriter errors) {
        refused.forEach(exception -> errors.println(exception.getMessage()));
        errors.flush();
    }

    /** 0, or 2 where a file was refused. */
    int exitCode() {
        return refused.isEmpty() ? 0 : CommandFailures.UNUSABLE;
    }
}
