package io.tokenstair.job.rule;

import io.tokenstair.rule.match.RuleActivity;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Counts what rules do, by revision and minute of event time, until it is shipped. Holds nothing across calls of its operator, so it is no
 * state.
 */
final class ActivityCounter {
    private final Map<Minute, Counts> counts = new HashMap<>();

    /** A minute of a revision. */
    private record Minute(String ruleId, int version, long minuteMillis) {}

    /** What was counted of it. */
    private static final class Counts {
        private final RuleActivity activity = new RuleActivity();
        private long droppedCount;
    }

    /** Nothing counted yet. */
    ActivityCounter() {}

    private Counts counts(String ruleId, int version, long millis) {
        return counts.computeIfAbsent(
                new Minute(ruleId, version, ActivityPart.minuteOf(millis)), minute -> new Counts());
    }

    /** Where a matcher counts what happens at an event time, in ms. */
    RuleActivity of(String ruleId, int version, long millis) {
        return counts(ruleId, version, millis).activity;
    }

    /** Counts open matches that are dropped at an event time, in ms. */
    void dropped(String ruleId, int version, long millis, int matches) {
        counts(ruleId, version, millis).droppedCount += matches;
    }

    /** Ships what was counted and forgets it. */
    void ship(Consumer<ActivityPart> output) {
        counts.forEach((minute, counted) -> {
            ActivityPart part = new ActivityPart();
            part.ruleId = minute.ruleId();
            part.version = minute.version();
            part.minuteMillis = minute.minuteMillis();
            part.add(counted.activity);
            part.droppedCount = counted.droppedCount;
            output.accept(part);
        });
        counts.clear();
    }
}
