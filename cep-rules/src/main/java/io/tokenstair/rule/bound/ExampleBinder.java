package io.tokenstair.rule.bound;

import io.tokenstair.cause.Cause;
import io.tokenstair.milestone.Milestone;
import io.tokenstair.milestone.MilestoneKind;
import io.tokenstair.rule.syntax.DurationLiteral;
import io.tokenstair.rule.syntax.RuleSyntax;
import io.tokenstair.rule.syntax.ScalarSyntax;
import io.tokenstair.rule.syntax.SourceText;
import io.tokenstair.rule.syntax.Spelling;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Makes milestones of an example's rows. {@code at} is the time since the example began; a row that names a request is its first
 * use and first sequence unless it says otherwise; evidence is numbered by row.
 */
final class ExampleBinder {
    private static final List<String> OWN_CELLS = List.of("kind", "at");

    /** Fields a milestone does not hold but works out. */
    private static final List<String> DERIVED = List.of("engineTime", "kvUsedRatio");

    private static final List<String> CELLS = Stream.concat(
                    OWN_CELLS.stream(), FieldCatalog.names().stream().filter(name -> !DERIVED.contains(name)))
            .toList();

    private final RuleSyntax.Row row;
    private final Map<String, ScalarSyntax> cells = new HashMap<>();

    private ExampleBinder(RuleSyntax.Row row) {
        this.row = row;
        row.cells().forEach(cell -> {
            if (!CELLS.contains(cell.name().value())) {
                throw cell.name()
                        .error("Cannot find field: " + cell.name().value()
                                + Spelling.suggestion(cell.name().value(), CELLS));
            }
            cells.put(cell.name().value(), cell.value());
        });
    }

    /** An example with its values read. */
    static RuleExample bind(SourceText source, RuleSyntax.Example example) {
        List<Milestone> given = new ArrayList<>();
        for (RuleSyntax.Row row : example.given()) {
            given.add(new ExampleBinder(row).milestone(source, given.size() + 1));
        }
        boolean matchExpected = switch (example.expect().value()) {
            case "match" -> true;
            case "no-match" -> false;
            default ->
                throw example.expect()
                        .error("Cannot find outcome: " + example.expect().value()
                                + Spelling.suggestion(example.expect().value(), List.of("match", "no-match")));
        };
        return new RuleExample(example.name().value(), List.copyOf(given), matchExpected);
    }

    private Milestone milestone(SourceText source, int number) {
        ScalarSyntax kind = cells.get("kind");
        Long atNanos = duration("at");
        if (kind == null || atNanos == null) {
            throw source.error(row.offset(), "Cannot read a given milestone without kind and at");
        }
        MilestoneKind milestoneKind = RuleBinder.constant(kind, "milestone kind", MilestoneKind.class);
        boolean ofRequest = cells.containsKey("requestId");
        return new Milestone(
                milestoneKind,
                atNanos / 1_000_000,
                atNanos,
                atNanos,
                text("engineId"),
                text("requestId"),
                ofRequest && !cells.containsKey("lifetime") ? Integer.valueOf(0) : small("lifetime"),
                ofRequest && !cells.containsKey("sequenceIndex") ? Integer.valueOf(0) : small("sequenceIndex"),
                small("tokenIndex"),
                whole("stepId"),
                small("contextTokens"),
                duration("gap"),
                duration("excess"),
                whole("discardedTokens"),
                whole("recomputedTokens"),
                whole("kvUsedBlocks"),
                whole("kvTotalBlocks"),
                List.of("example/1/" + number),
                cause(),
                text("culpritRequestId"),
                duration("ttft"),
                text("deviceId"),
                small("priority"),
                small("batchSequences"),
                duration("lost"),
                small("culpritPriority"));
    }

    private @Nullable Cause cause() {
        ScalarSyntax cell = cells.get("cause");
        return cell == null ? null : RuleBinder.constant(cell, "cause", Cause.class);
    }

    private @Nullable String text(String name) {
        ScalarSyntax cell = cells.get(name);
        return cell == null ? null : cell.value();
    }

    private @Nullable Integer small(String name) {
        ScalarSyntax cell = cells.get(name);
        Long value = whole(name);
        if (cell == null || value == null) {
            return null;
        }
        if (value > Integer.MAX_VALUE) {
            throw cell.error("Cannot use a number larger than " + Integer.MAX_VALUE + ": " + value);
        }
        return value.intValue();
    }

    private @Nullable Long whole(String name) {
        ScalarSyntax cell = cells.get(name);
        if (cell == null) {
            return null;
        }
        if (!cell.value().matches("[0-9]{1,18}")) {
            throw cell.error("Cannot read whole number: " + cell.value());
        }
        return Long.valueOf(cell.value());
    }

    private @Nullable Long duration(String name) {
        ScalarSyntax cell = cells.get(name);
        if (cell == null) {
            return null;
        }
        return DurationLiteral.nanos(cell.value())
                .orElseThrow(
                        () -> cell.error("Cannot read duration: " + cell.value() + ". Write it as in 50ms or 1.5s"));
    }
}
