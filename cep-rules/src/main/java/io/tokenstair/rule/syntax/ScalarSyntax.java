package io.tokenstair.rule.syntax;

import io.tokenstair.rule.RuleException;

/**
 * One word or text of a rule file and where it stands.
 *
 * @param source the file
 * @param value what it says, quotes and folding undone
 * @param offset where it begins in the file
 * @param contentOffset where the content begins: after a quote or a block header
 * @param doubleQuoted true where escapes may make content and value differ
 * @param singleQuoted true where a quote is written twice
 */
public record ScalarSyntax(
        SourceText source, String value, int offset, int contentOffset, boolean doubleQuoted, boolean singleQuoted) {

    /**
     * An error about this text as a whole.
     *
     * @param problem what is wrong and what to do
     */
    public RuleException error(String problem) {
        return source.error(offset, problem);
    }

    /**
     * An error about a part of this text.
     *
     * @param valueOffset index into {@link #value()}
     * @param problem what is wrong and what to do
     */
    public RuleException errorAt(int valueOffset, String problem) {
        return source.error(sourceOffsetOf(valueOffset), problem);
    }

    /**
     * YAML folds and indents white space but keeps every other character, so the n-th visible character of the value is the
     * n-th of the content. Escapes break that: such a text is located by its beginning.
     */
    private int sourceOffsetOf(int valueOffset) {
        String text = source.text();
        if (doubleQuoted && value.length() + contentOffset <= text.length() && !text.startsWith(value, contentOffset)) {
            return offset;
        }
        int visible = 0;
        for (int i = 0; i < Math.min(valueOffset, value.length()); i++) {
            visible += Character.isWhitespace(value.charAt(i)) ? 0 : 1;
        }
        boolean afterLast = valueOffset >= value.length() || Character.isWhitespace(value.charAt(valueOffset));
        int wanted = afterLast ? visible - 1 : visible;
        int place = contentOffset;
        for (int seen = 0; place < text.length(); place++) {
            if (Character.isWhitespace(text.charAt(place))) {
                continue;
            }
            if (seen == wanted) {
                return afterLast ? place + 1 : place;
            }
            seen++;
            if (singleQuoted && text.startsWith("''", place)) {
                place++;
            }
        }
        return offset;
    }
}
