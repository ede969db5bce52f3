package io.tokenstair.job.rule;

import io.tokenstair.milestone.Milestone;
import io.tokenstair.milestone.MilestoneKind;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.bound.RuleKey;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/**
 * The rules of one key over its milestones, given in {@link io.tokenstair.rule.bound.MilestoneOrder}. What it says depends on milestones and
 * the timeline alone, not on when it is called.
 *
 * <p>A request keeps the revisions in force at its first milestone; an engine goes by those of the moment, and matches that began under a
 * revision replaced since are dropped when the key is met again or their time is over.
 */
final class RuleLife {
    /** How long a request keeps its revisions; one that lives longer begins anew. */
    static final long MAX_LIFE_MILLIS = 24 * 3_600_000L;

    /** After how much event time a request without open matches is forgotten that did not end. */
    static final long IDLE_MILLIS = 3_600_000;

    /** The same for a request whose last milestone ended a sequence: another of its sequences may still run. */
    static final long ENDED_MILLIS = 60_000;

    private final RuleKey key;
    private final KeyState state;
    private final RuleTimeline timeline;
    private final ActivityCounter activity;
    private final Output output;

    /** Takes what is found. */
    interface Output {
        /** A match: what each of its stages took, in stage order. */
        void matched(BoundRule rule, List<List<Milestone>> byStage);
    }

    /** The rules of a key over its state. */
    RuleLife(RuleKey key, KeyState state, RuleTimeline timeline, ActivityCounter activity, Output output) {
        this.key = key;
        this.state = state;
        this.timeline = timeline;
        this.activity = activity;
        this.output = output;
    }

    /** Takes the next milestone. */
    void accept(Milestone milestone) {
        long millis = milestone.coarseEpochMillis();
        passTo(millis);
        if (key == RuleKey.REQUEST && beginsAnew(millis)) {
            state.runs.forEach((id, run) -> activity.dropped(id, run.version, millis, run.progress.open.size()));
            state.runs.clear();
            state.beganMillis = millis;
        }
        RuleTimeline.InForce inForce = inForceAt(millis);
        dropReplaced(inForce, millis);
        for (RuleTimeline.Revision revision : inForce.of(milestone.milestoneKind())) {
            String id = revision.ruleId();
            RuleRun run = state.runs.get(id);
            boolean open = run != null;
            if (run == null) {
                run = new RuleRun();
                run.version = revision.version();
            }
            BoundRule rule = revision.matcher().rule();
            revision.matcher()
                    .take(
                            run.progress,
                            milestone,
                            activity.of(id, run.version, millis),
                            matched -> output.matched(rule, matched));
            run.nextMillis = revision.matcher().nextInstantMillis(run.progress);
            if (!run.progress.open.isEmpty()) {
                state.runs.put(id, run);
            } else if (open) {
                state.runs.remove(id);
            }
        }
        state.lastMillis = millis;
        state.finished = milestone.milestoneKind() == MilestoneKind.FINISHED;
    }

    private boolean beginsAnew(long millis) {
        return state.beganMillis == KeyState.NONE
                || millis - state.beganMillis >= MAX_LIFE_MILLIS
                || (state.runs.isEmpty() && millis >= forgottenMillis());
    }

    /** From when the key is forgotten if nothing comes and nothing is open, in ms. */
    private long forgottenMillis() {
        long memory = key != RuleKey.REQUEST ? 0 : state.finished ? ENDED_MILLIS : IDLE_MILLIS;
        return state.lastMillis > Long.MAX_VALUE - memory ? Long.MAX_VALUE : state.lastMillis + memory;
    }

    private RuleTimeline.InForce inForceAt(long millis) {
        return timeline.at(key == RuleKey.REQUEST ? state.beganMillis : millis);
    }

    private void dropReplaced(RuleTimeline.InForce inForce, long millis) {
        for (Iterator<Map.Entry<String, RuleRun>> runs = state.runs.entrySet().iterator(); runs.hasNext(); ) {
            Map.Entry<String, RuleRun> entry = runs.next();
            RuleTimeline.Revision now = inForce.of(entry.getKey());
            RuleRun run = entry.getValue();
            if (now == null || now.version() != run.version) {
                activity.dropped(entry.getKey(), run.version, millis, run.progress.open.size());
                runs.remove();
            }
        }
    }

    /** Says that all milestones before an event time, in ms, have been given. */
    void passTo(long millis) {
        for (long instant = nextInstantMillis();
                instant <= millis && !state.runs.isEmpty();
                instant = nextInstantMillis()) {
            passInstant(instant);
        }
    }

    private void passInstant(long instant) {
        RuleTimeline.InForce inForce = inForceAt(instant);
        dropReplaced(inForce, instant);
        for (Iterator<Map.Entry<String, RuleRun>> runs = state.runs.entrySet().iterator(); runs.hasNext(); ) {
            Map.Entry<String, RuleRun> entry = runs.next();
            RuleRun run = entry.getValue();
            RuleTimeline.Revision revision = inForce.of(entry.getKey());
            if (revision == null || run.nextMillis > instant) {
                continue;
            }
            BoundRule rule = revision.matcher().rule();
            revision.matcher()
                    .passTime(
                            run.progress,
                            instant,
                            activity.of(entry.getKey(), run.version, instant),
                            matched -> output.matched(rule, matched));
            run.nextMillis = revision.matcher().nextInstantMillis(run.progress);
            if (run.progress.open.isEmpty() || instant == Long.MAX_VALUE) {
                runs.remove();
            } else if (run.nextMillis <= instant) {
                throw new IllegalStateException("Cannot pass " + instant + " ms of rule " + entry.getKey());
            }
        }
    }

    private long nextInstantMillis() {
        long next = Long.MAX_VALUE;
        for (RuleRun run : state.runs.values()) {
            next = Math.min(next, run.nextMillis);
        }
        return next;
    }

    /** The next event time, in ms, at which something is due though no milestone comes. */
    long nextDueMillis() {
        return state.runs.isEmpty() ? forgottenMillis() : nextInstantMillis();
    }

    /** True where nothing of the key is wanted any more, as far as event time has come. */
    boolean isForgotten(long completeMillis) {
        return state.runs.isEmpty() && completeMillis >= forgottenMillis();
    }
}
