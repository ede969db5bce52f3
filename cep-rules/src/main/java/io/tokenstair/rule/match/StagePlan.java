package io.tokenstair.rule.match;

import io.tokenstair.milestone.MilestoneKind;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.bound.BoundStage;
import io.tokenstair.rule.bound.StageCondition;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** What of a rule's stages can be worked out before any milestone comes. A set of stages is an int, one bit each. */
final class StagePlan {
    private final List<BoundStage> stages;
    private final Set<MilestoneKind> kinds;
    private final int endBit;
    private final int[] leavesTo;
    private final List<List<Between>> between = new ArrayList<>();
    private final int[] readsFrom;

    StagePlan(BoundRule rule) {
        stages = rule.stages();
        kinds = EnumSet.copyOf(rule.milestoneKinds());
        int count = stages.size();
        endBit = 1 << count;
        leavesTo = new int[count];
        readsFrom = new int[count + 1];
        for (int stage = count - 1; stage >= 0; stage--) {
            readsFrom[stage] = readsFrom[stage + 1] | reads(stages.get(stage));
            int next = stage + 1;
            while (next < count && mayPass(stages.get(next))) {
                leavesTo[stage] |= bitOf(next);
                next++;
            }
            leavesTo[stage] |= 1 << next;
        }
        for (int from = 0; from < count; from++) {
            List<Between> fromHere = new ArrayList<>();
            for (int to = 0; to <= count; to++) {
                fromHere.add(between(rule.absentBetween(from, to)));
            }
            between.add(List.copyOf(fromHere));
        }
    }

    /** The kinds the stages name. */
    Set<MilestoneKind> kinds() {
        return kinds;
    }

    /** The bit after the last stage: the match may end here. */
    int endBit() {
        return endBit;
    }

    /** The stages that may take the next milestone after a stage took so many; with the end bit where the match may end there. */
    int next(int stage, int count) {
        BoundStage taken = stages.get(stage);
        return (count < taken.timesTo() ? 1 << stage : 0) | (count >= taken.timesFrom() ? leavesTo[stage] : 0);
    }

    /** True where a way is at its end, and nothing that may come can change that. */
    boolean isComplete(OpenWay way) {
        return (way.next & endBit) != 0
                && absentBetween(way.stage, stages.size()).isEmpty();
    }

    /** The stages that say what must not come between two. */
    List<BoundStage> absentBetween(int from, int to) {
        return between.get(from).get(to).absent();
    }

    /** True where whatever one way still gets by taking a stage next, the other gets too. */
    boolean covers(OpenWay wide, OpenWay narrow, int stage) {
        if ((wide.next & (1 << stage)) == 0 || wide.stage > stage) {
            return false;
        }
        Between ofWide = between.get(wide.stage).get(stage);
        Between ofNarrow = between.get(narrow.stage).get(stage);
        if (ofWide.absent().size() > ofNarrow.absent().size()) {
            return false;
        }
        boolean ends = stage == stages.size();
        if (wide.stage == stage || narrow.stage == stage) {
            boolean equalCounts = wide.stage == narrow.stage && wide.counts[stage] == narrow.counts[stage];
            if (!equalCounts || stages.get(stage).distinct() != null) {
                return false;
            }
        }
        boolean previousIsRead = ofNarrow.readsPrevious() || (!ends && readsPrevious(stages.get(stage)));
        if (previousIsRead && wide.toPlace != narrow.toPlace) {
            return false;
        }
        for (int read = readsFrom[stage] | ofNarrow.reads(); read != 0; read &= read - 1) {
            int ofStage = Integer.numberOfTrailingZeros(read);
            if (wide.lastPlace(ofStage) != narrow.lastPlace(ofStage)) {
                return false;
            }
        }
        return true;
    }

    private static boolean mayPass(BoundStage stage) {
        return stage.absent() || stage.optional();
    }

    private int bitOf(int stage) {
        return stages.get(stage).absent() ? 0 : 1 << stage;
    }

    private static Between between(List<BoundStage> absent) {
        int reads = 0;
        boolean readsPrevious = false;
        for (BoundStage stage : absent) {
            reads |= reads(stage);
            readsPrevious |= readsPrevious(stage);
        }
        return new Between(absent, reads, readsPrevious);
    }

    private static int reads(BoundStage stage) {
        int reads = 0;
        for (BoundStage.Alternative alternative : stage.alternatives()) {
            StageCondition condition = alternative.condition();
            if (condition != null) {
                for (int read : condition.readStages()) {
                    reads |= 1 << read;
                }
            }
        }
        return reads;
    }

    private static boolean readsPrevious(BoundStage stage) {
        for (BoundStage.Alternative alternative : stage.alternatives()) {
            StageCondition condition = alternative.condition();
            if (condition != null && condition.readsPrevious()) {
                return true;
            }
        }
        return false;
    }

    /** The absent stages between two others, and the stages their conditions read. */
    private record Between(List<BoundStage> absent, int reads, boolean readsPrevious) {}
}
