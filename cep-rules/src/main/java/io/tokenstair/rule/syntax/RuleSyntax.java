package io.tokenstair.rule.syntax;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a rule file says, names not yet looked up. Meaning of each name: docs/rules.md.
 *
 * @param source the file
 * @param id the rule's name
 * @param version its revision
 * @param description what it finds, for people
 * @param severity severity of its findings
 * @param cause cause of its findings
 * @param key what the stages have in common
 * @param stages in order, at least one
 * @param within how long a match may last
 * @param afterMatch what a match uses up; absent where the default holds
 * @param finding sentences about a match, at least one
 * @param examples given milestones and the expected outcome; empty where none are given
 */
public record RuleSyntax(
        SourceText source,
        ScalarSyntax id,
        ScalarSyntax version,
        ScalarSyntax description,
        ScalarSyntax severity,
        ScalarSyntax cause,
        ScalarSyntax key,
        List<Stage> stages,
        ScalarSyntax within,
        @Nullable ScalarSyntax afterMatch,
        List<ScalarSyntax> finding,
        List<Example> examples) {

    /**
     * One step of the sequence.
     *
     * @param name what conditions and findings call it
     * @param kind the kind of milestone
     * @param where a condition; absent where the kind is enough
     * @param contiguity how it follows the stage before; absent where the default holds
     */
    public record Stage(
            ScalarSyntax name,
            ScalarSyntax kind,
            @Nullable ScalarSyntax where,
            @Nullable ScalarSyntax contiguity) {}

    /**
     * Milestones a rule is tried on.
     *
     * @param name what the example shows
     * @param given a row per milestone
     * @param expect the expected outcome
     */
    public record Example(ScalarSyntax name, List<Row> given, ScalarSyntax expect) {}

    /**
     * One milestone of an example.
     *
     * @param offset where it begins in the file
     * @param cells field names and values, in the order of the file
     */
    public record Row(int offset, List<Cell> cells) {}

    /**
     * One field of an example's milestone.
     *
     * @param name the field
     * @param value its value
     */
    public record Cell(ScalarSyntax name, ScalarSyntax value) {}
}
