package io.tokenstair.job.rule;

import io.tokenstair.milestone.Milestone;
import io.tokenstair.milestone.MilestoneKind;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.bound.RuleBinder;
import io.tokenstair.rule.syntax.RuleParser;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** Small rules and milestone sequences made from a seed: few kinds and values, so that they meet often, and many ties. */
final class RandomRules {
    private static final MilestoneKind[] KINDS = {
        MilestoneKind.PREEMPTED, MilestoneKind.RECOMPUTED, MilestoneKind.TPOT_STEP_UP
    };

    private RandomRules() {}

    static List<BoundRule> rules(long seed, int count) {
        Random random = new Random(seed);
        List<BoundRule> rules = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            String text = rule(random, "random-" + i);
            rules.add(RuleBinder.bind(RuleParser.parse("random-" + i + ".yaml", text)));
        }
        return rules;
    }

    private static String rule(Random random, String id) {
        boolean ofRequest = random.nextInt(4) == 0;
        StringBuilder text = new StringBuilder();
        text.append("id: ").append(id).append("\nversion: 1\ndescription: random\nseverity: info\n");
        text.append(ofRequest ? "cause: PREEMPTION\nkey: request\n" : "cause: KV_PRESSURE\nkey: engine\n");
        text.append("stages:\n");
        int stages = 1 + random.nextInt(4);
        for (int stage = 0; stage < stages; stage++) {
            text.append("  - name: s").append(stage).append('\n');
            text.append("    kind: ")
                    .append(KINDS[random.nextInt(KINDS.length)])
                    .append('\n');
            String where = condition(random, stage);
            if (where != null) {
                text.append("    where: |\n      ").append(where).append('\n');
            }
            if (stage > 0 && random.nextInt(3) == 0) {
                text.append("    contiguity: strict\n");
            }
        }
        text.append("within: ").append(1 + random.nextInt(20)).append("ms\n");
        text.append("afterMatch: ").append(random.nextBoolean() ? "no-skip" : "skip-past-last");
        text.append("\nfinding: It happened.\n");
        return text.toString();
    }

    private static @Nullable String condition(Random random, int stage) {
        String own = switch (random.nextInt(5)) {
            case 0 -> "contextTokens > " + random.nextInt(4);
            case 1 -> "gap > " + random.nextInt(4) + "ms";
            case 2 -> "!(gap == 2ms)";
            case 3 -> "has(gap) || contextTokens != 1";
            default -> null;
        };
        if (stage == 0 || random.nextBoolean()) {
            return own;
        }
        String before = "s" + random.nextInt(stage);
        String joined = switch (random.nextInt(4)) {
            case 0 -> "requestId == " + before + ".requestId";
            case 1 -> "requestId != " + before + ".requestId || gap > " + before + ".gap";
            case 2 -> "engineTime - " + before + ".engineTime < " + (1 + random.nextInt(9)) + "ms";
            default -> "contextTokens >= " + before + ".contextTokens";
        };
        return own == null ? joined : "(" + own + ") && (" + joined + ")";
    }

    /** The milestones of one engine, in a random order; each engine is a sequence of its own. */
    static List<Milestone> milestones(long seed, String engineId) {
        Random random = new Random(seed);
        List<Milestone> milestones = new ArrayList<>();
        long epochMillis = 1_700_000_000_000L;
        int count = 1 + random.nextInt(40);
        for (int i = 0; i < count; i++) {
            epochMillis += random.nextInt(3) * random.nextInt(4);
            long orderNanos = (epochMillis - 1_700_000_000_000L) * 1_000_000 + random.nextInt(3);
            String requestId = random.nextInt(8) == 0 ? null : engineId + "-r" + random.nextInt(2);
            milestones.add(new Milestone(
                    KINDS[random.nextInt(KINDS.length)],
                    epochMillis,
                    null,
                    orderNanos,
                    engineId,
                    requestId,
                    requestId == null ? null : Integer.valueOf(0),
                    requestId == null ? null : Integer.valueOf(0),
                    random.nextInt(2),
                    null,
                    random.nextInt(4),
                    random.nextInt(4) == 0 ? null : random.nextInt(4) * 1_000_000L,
                    null,
                    null,
                    null,
                    null,
                    null,
                    List.of("c/1/" + random.nextInt(3))));
        }
        Collections.shuffle(milestones, random);
        return milestones;
    }
}
