package io.tokenstair.rule.bound;

import io.tokenstair.rule.syntax.ScalarSyntax;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a condition that are joined by {@code &&} and so must all hold, each compiled alone. Made when first asked for: only
 * explanations need them.
 */
final class ConditionParts {
    /**
     * A part.
     *
     * @param text as the rule writes it, on one line
     * @param condition its meaning
     */
    record Part(String text, StageCondition condition) {}

    private final ScalarSyntax where;
    private final List<String> stageNames;
    private final Set<String> absentNames;
    private final int ownStage;
    private volatile @Nullable List<Part> compiled;

    ConditionParts(ScalarSyntax where, List<String> stageNames, Set<String> absentNames, int ownStage) {
        this.where = where;
        this.stageNames = stageNames;
        this.absentNames = absentNames;
        this.ownStage = ownStage;
    }

    /** The whole condition on one line. */
    String text() {
        return onOneLine(where.value());
    }

    /** The parts, in the order of the text; at least one. */
    List<Part> all() {
        List<Part> parts = compiled;
        if (parts == null) {
            parts = split(where.value()).stream()
                    .map(text -> new Part(
                            onOneLine(text),
                            ConditionCompiler.compile(
                                    new ScalarSyntax(
                                            where.source(), text, where.offset(), where.contentOffset(), true, false),
                                    stageNames,
                                    absentNames,
                                    ownStage)))
                    .toList();
            compiled = parts;
        }
        return parts;
    }

    /** The texts between the outermost {@code &&}; the whole where an {@code ||} or a choice binds weaker, or a remark stands in it. */
    static List<String> split(String written) {
        String text = inner(written.strip());
        List<String> parts = new ArrayList<>();
        int depth = 0;
        int from = 0;
        int at = 0;
        while (at < text.length()) {
            char c = text.charAt(at);
            if (c == '"' || c == '\'') {
                at = quoteEnd(text, at);
                continue;
            }
            depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
            boolean remark = text.startsWith("//", at);
            if (remark || depth == 0 && (c == '?' || text.startsWith("||", at))) {
                return List.of(text);
            }
            if (depth == 0 && text.startsWith("&&", at)) {
                parts.addAll(split(text.substring(from, at)));
                from = at + 2;
                at++;
            }
            at++;
        }
        if (parts.isEmpty()) {
            return List.of(text);
        }
        parts.addAll(split(text.substring(from)));
        return List.copyOf(parts);
    }

    /** The text without brackets around all of it. */
    private static String inner(String text) {
        if (!text.startsWith("(")) {
            return text;
        }
        int depth = 0;
        for (int at = 0; at < text.length(); at++) {
            char c = text.charAt(at);
            if (c == '"' || c == '\'') {
                at = quoteEnd(text, at) - 1;
                continue;
            }
            depth += c == '(' ? 1 : c == ')' ? -1 : 0;
            if (depth == 0) {
                return at == text.length() - 1 ? inner(text.substring(1, at).strip()) : text;
            }
        }
        return text;
    }

    private static int quoteEnd(String text, int from) {
        boolean raw = from > 0 && (text.charAt(from - 1) == 'r' || text.charAt(from - 1) == 'R');
        String quote = text.substring(from, from + 1);
        String fence = text.startsWith(quote.repeat(3), from) ? quote.repeat(3) : quote;
        int at = from + fence.length();
        while (at < text.length() && !text.startsWith(fence, at)) {
            at += text.charAt(at) == '\\' && !raw ? 2 : 1;
        }
        return Math.min(text.length(), at + fence.length());
    }

    private static String onOneLine(String text) {
        return text.strip().replaceAll("\\s+", " ");
    }
}
