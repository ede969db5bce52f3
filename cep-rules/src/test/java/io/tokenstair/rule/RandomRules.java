package io.tokenstair.rule;

import io.tokenstair.cause.Cause;
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

/**
 * Small rules and milestone sequences made from a seed: few kinds and values, so that they meet often, many ties, and every part of the
 * language. The tests of what runs over streams use them too.
 */
public final class RandomRules {
    private static final MilestoneKind[] KINDS = {
        MilestoneKind.PREEMPTED, MilestoneKind.RECOMPUTED, MilestoneKind.TPOT_STEP_UP
    };
    private static final @Nullable Cause[] CAUSES = {null, Cause.HOST_PAUSE, Cause.THERMAL_CLOCK, Cause.KV_PRESSURE};
    private static final long BEGIN_EPOCH_MILLIS = 1_700_000_000_000L;

    private RandomRules() {}

    /** Rules of ids {@code random-0} and so on. */
    public static List<BoundRule> rules(long seed, int count) {
        Random random = new Random(seed);
        List<BoundRule> rules = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            String text = rule(random, "random-" + i);
            rules.add(RuleBinder.bind(RuleParser.parse("random-" + i + ".yaml", text)));
        }
        return rules;
    }

    private static String rule(Random random, String id) {
        String key = switch (random.nextInt(8)) {
            case 0, 1 -> "request";
            case 2, 3 -> "device";
            default -> "engine";
        };
        StringBuilder text = new StringBuilder();
        text.append("id: ").append(id).append("\nversion: 1\ndescription: random\nseverity: info\n");
        text.append("cause: ").append(key.equals("request") ? "PREEMPTION" : "KV_PRESSURE");
        text.append("\nkey: ").append(key).append('\n');
        text.append("stages:\n");
        boolean plain = random.nextInt(4) == 0;
        int stages = 1 + random.nextInt(plain ? 4 : 5);
        List<String> earlier = new ArrayList<>();
        for (int stage = 0; stage < stages; stage++) {
            stage(random, text, earlier, stage, plain);
        }
        text.append("within: ").append(1 + random.nextInt(20)).append("ms\n");
        text.append("afterMatch: ").append(random.nextBoolean() ? "no-skip" : "skip-past-last");
        text.append("\nfinding: It happened.\n");
        return text.toString();
    }

    private static void stage(Random random, StringBuilder text, List<String> earlier, int stage, boolean plain) {
        String name = "s" + stage;
        text.append("  - name: ").append(name).append('\n');
        boolean absent = !plain && stage > 0 && random.nextInt(5) == 0;
        boolean repeated = !plain && !absent && random.nextInt(3) == 0;
        if (!plain && random.nextInt(5) == 0) {
            text.append("    anyOf:\n");
            for (int i = 0; i < 2; i++) {
                alternative(random, text, earlier, repeated || stage > 0, "      - ", "        ");
            }
        } else {
            alternative(random, text, earlier, repeated || stage > 0, "    ", "    ");
        }
        if (absent) {
            text.append("    absent: true\n");
            return;
        }
        if (repeated) {
            int from = 1 + random.nextInt(3);
            // One stage without an upper bound: two go more ways than a rule may.
            boolean unbounded = text.indexOf("..\n") >= 0;
            text.append("    times: ")
                    .append(from)
                    .append(
                            switch (random.nextInt(unbounded ? 2 : 3)) {
                                case 0 -> from == 1 ? "..2" : "";
                                case 1 -> ".." + (from + 1 + random.nextInt(2));
                                default -> "..";
                            });
            text.append('\n');
            if (!text.substring(text.lastIndexOf("times: ")).equals("times: 1\n") && random.nextInt(3) == 0) {
                text.append("    distinct: ")
                        .append(
                                switch (random.nextInt(4)) {
                                    case 0 -> "cause";
                                    case 1 -> "deviceId";
                                    case 2 -> "contextTokens";
                                    default -> "gap";
                                })
                        .append('\n');
            }
        }
        if (!plain && stage > 0 && random.nextInt(4) == 0) {
            text.append("    optional: true\n");
        }
        if ((stage > 0 || repeated) && random.nextInt(4) == 0) {
            text.append("    contiguity: strict\n");
        }
        earlier.add(name);
    }

    private static void alternative(
            Random random, StringBuilder text, List<String> earlier, boolean hasPrevious, String first, String rest) {
        text.append(first)
                .append("kind: ")
                .append(KINDS[random.nextInt(KINDS.length)])
                .append('\n');
        String where = condition(random, earlier, hasPrevious);
        if (where != null) {
            text.append(rest)
                    .append("where: |\n")
                    .append(rest)
                    .append("  ")
                    .append(where)
                    .append('\n');
        }
    }

    private static @Nullable String condition(Random random, List<String> earlier, boolean hasPrevious) {
        String own = switch (random.nextInt(9)) {
            case 0 -> "contextTokens > " + random.nextInt(4);
            case 1 -> "gap > " + random.nextInt(4) + "ms";
            case 2 -> "!(gap == 2ms)";
            case 3 -> "has(gap) || contextTokens != 1";
            case 4 -> "cause == 'HOST_PAUSE'";
            case 5 -> "cause in ['HOST_PAUSE', 'THERMAL_CLOCK'] || !has(deviceId)";
            case 6 -> "cause != 'KV_PRESSURE' && (has(gap) || contextTokens > 1)";
            default -> null;
        };
        if (!hasPrevious || random.nextBoolean()) {
            return own;
        }
        String before =
                earlier.isEmpty() || random.nextInt(3) == 0 ? "previous" : earlier.get(random.nextInt(earlier.size()));
        String joined = switch (random.nextInt(8)) {
            case 0 -> "requestId == " + before + ".requestId";
            case 1 -> "requestId != " + before + ".requestId || gap > " + before + ".gap";
            case 2 -> "engineTime - " + before + ".engineTime < " + (1 + random.nextInt(9)) + "ms";
            case 3 -> "!has(" + before + ".contextTokens) || contextTokens != " + before + ".contextTokens";
            case 4 -> "cause == " + before + ".cause";
            case 5 -> "deviceId != " + before + ".deviceId || !has(" + before + ".cause)";
            case 6 -> "contextTokens / " + before + ".contextTokens >= 1";
            default -> "contextTokens >= " + before + ".contextTokens";
        };
        return own == null ? joined : "(" + own + ") && (" + joined + ")";
    }

    /**
     * The milestones of one engine, in a random order; each engine is a sequence of its own.
     *
     * @param seed what they are made from
     * @param engineId the engine
     * @param repeats true where one may be given twice, equal in every field
     */
    public static List<Milestone> milestones(long seed, String engineId, boolean repeats) {
        Random random = new Random(seed);
        List<Milestone> milestones = new ArrayList<>();
        long epochMillis = BEGIN_EPOCH_MILLIS;
        int count = 1 + random.nextInt(40);
        for (int i = 0; i < count; i++) {
            epochMillis += random.nextInt(3) * random.nextInt(4);
            milestones.add(milestone(random, engineId, epochMillis, i));
            if (repeats && random.nextInt(10) == 0) {
                milestones.add(milestones.get(milestones.size() - 1));
            }
        }
        Collections.shuffle(milestones, random);
        return milestones;
    }

    private static Milestone milestone(Random random, String engineId, long epochMillis, int number) {
        long orderNanos = (epochMillis - BEGIN_EPOCH_MILLIS) * 1_000_000 + random.nextInt(3);
        String requestId = random.nextInt(8) == 0 ? null : engineId + "-r" + random.nextInt(2);
        Integer first = requestId == null ? null : Integer.valueOf(0);
        return new Milestone(
                KINDS[random.nextInt(KINDS.length)],
                epochMillis,
                null,
                orderNanos,
                engineId,
                requestId,
                first,
                first,
                random.nextInt(2),
                null,
                random.nextInt(4),
                random.nextInt(4) == 0 ? null : random.nextInt(4) * 1_000_000L,
                null,
                null,
                null,
                null,
                null,
                List.of("c/1/" + number),
                CAUSES[random.nextInt(CAUSES.length)],
                null,
                null,
                random.nextInt(5) == 0 ? null : engineId + "-gpu" + random.nextInt(2),
                null,
                null,
                null,
                null);
    }
}
