package io.tokenstair.look.rule;

import io.tokenstair.look.CommandFailures;
import io.tokenstair.look.archive.UnusableInputException;
import io.tokenstair.rule.RuleException;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.library.RuleLibrary;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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

    /**
     * Refuses two files of one id: what is said of the rule would be of either.
     *
     * @throws UnusableInputException where there are two
     */
    void requireOneFilePerId() {
        Map<String, String> fileById = new HashMap<>();
        for (BoundRule rule : rules) {
            String file = rule.source().file();
            String other = fileById.putIfAbsent(rule.id(), file);
            if (other != null) {
                throw new UnusableInputException("Cannot use two rules of one id: " + rule.id() + " is in " + other
                        + " and in " + file + ". Give one of them another id, or name one file");
            }
        }
    }

    /** 0, or 2 where a file was refused. */
    int exitCode() {
        return refused.isEmpty() ? 0 : CommandFailures.UNUSABLE;
    }
}
