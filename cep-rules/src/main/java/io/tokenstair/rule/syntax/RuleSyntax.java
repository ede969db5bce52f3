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
 * @param effectiveFrom from when it is in force; absent where from its arrival
 * @param caps its own caps; absent where the built-in ones hold
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
        @Nullable ScalarSyntax effectiveFrom,
        @Nullable Caps caps,
        List<Stage> stages,
        ScalarSyntax within,
        @Nullable ScalarSyntax afterMatch,
        List<ScalarSyntax> finding,
        List<Example> examples) {

    /**
     * One step of the sequence.
     *
     * @param offset where it begins in the file
     * @param name what conditions and findings call it
     * @param alternatives what it takes, any of them; at least one
     * @param contiguity how it follows the stage before; absent where the default holds
     * @param times how many milestones it takes; absent where one
     * @param optional whether it may be left out; absent where not
     * @param absent whether it says what must not come; absent where not
     * @param distinct the field in which what it takes must differ; absent where none
     */
    public record Stage(
            int offset,
            ScalarSyntax name,
            List<Alternative> alternatives,
            @Nullable ScalarSyntax contiguity,
            @Nullable ScalarSyntax times,
            @Nullable ScalarSyntax optional,
            @Nullable ScalarSyntax absent,
            @Nullable ScalarSyntax distinct) {}

    /**
     * One way to fit a stage.
     *
     * @param kind the kind of milestone
     * @param where a condition; absent where the kind is enough
     */
    public record Alternative(ScalarSyntax kind, @Nullable ScalarSyntax where) {}

    /**
     * Caps lower than the built-in ones.
     *
     * @param openMatches most matches of a key open at once; absent where the built-in cap holds
     * @param evaluations most conditions asked for one milestone; absent where the built-in cap holds
     */
    public record Caps(
            @Nullable ScalarSyntax openMatches, @Nullable ScalarSyntax evaluations) {}

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
