package io.tokenstair.bench.accuracy;

import io.tokenstair.cause.Cause;
import io.tokenstair.simulate.RequestTruth;
import io.tokenstair.simulate.Simulation;
import io.tokenstair.simulate.StaircaseTruth;
import io.tokenstair.simulate.StepTruth;
import io.tokenstair.simulate.TokenTruth;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * What each built-in rule is about, counted in the truth of a simulated run and in nothing else. Two counts: what is well beyond the limits
 * that the definitions set, so that the rule must match, and what is anywhere near them, without which it must not.
 */
final class RuleTruth {
    /** How far apart the tokens of one spell are at most; as the milestones have it. */
    private static final int SPELL_TOKENS = 64;

    /** A spell that cost so many usual tokens is told (the limit is 4), and one that did not cost so many is not. */
    private static final int CLEAR_TOKENS = 8;

    private static final int POSSIBLE_TOKENS = 2;

    /** A token is slow beyond this share of what is usual. */
    private static final double SLOW_SHARE = 0.15;

    /** Steps over which a storm must last. */
    private static final int STORM_STEPS = 128;

    /** Tokens or steps on either side of a rise. */
    private static final int LEVEL = 64;

    /** By rule what it is about. */
    static final Map<String, Function<Simulation, Contained>> OF_RULE = ofRule();

    private RuleTruth() {}

    /**
     * What a run contains of what a rule is about.
     *
     * @param clear things well beyond every limit: with one, the rule must match
     * @param possible things near the limits or beyond: without one, it must not
     */
    record Contained(long clear, long possible) {}

    private static Map<String, Function<Simulation, Contained>> ofRule() {
        Map<String, Function<Simulation, Contained>> rules = new TreeMap<>();
        rules.put("alloc-stall-with-sync", run -> spells(run, Cause.ALLOC_STALL, token -> true));
        rules.put("batch-oscillation-felt", RuleTruth::oscillation);
        rules.put("context-expansion-staircase", RuleTruth::staircase);
        rules.put("decode-starved", run -> spells(run, Cause.DECODE_STARVED_BY_PREFILL, RuleTruth::isLater));
        rules.put("driver-error-after-stall", run -> spells(run, Cause.DRIVER_ERROR, RuleTruth::isLater));
        rules.put("first-use-jit", run -> spells(run, Cause.JIT_COMPILE, token -> true));
        rules.put("gateway-buffering-felt", RuleTruth::buffering);
        rules.put("graph-fallback", run -> spells(run, Cause.KERNEL_FALLBACK, RuleTruth::isLater));
        rules.put("host-pause", RuleTruth::pauses);
        rules.put(
                "kv-pressure-then-recompute",
                run -> requests(
                        run, one -> one.preemptions() > 0 && one.ttftNanos() != null, one -> one.preemptions() > 0));
        rules.put("output-stall", run -> spells(run, Cause.OUTPUT_STALL, token -> true));
        rules.put(
                "overtaken-after-preemption",
                run -> requests(
                        run,
                        one -> one.overtakenCount() > 0,
                        one -> one.overtakenCount() > 0 || (one.preemptions() > 0 && one.passedOverCount() > 0)));
        rules.put(
                "preemption-loop-begins",
                run -> requests(
                        run,
                        one -> one.preemptions() >= 3
                                && 4 * one.loopRecomputedTokens() >= 5 * one.loopGainedTokens() + 64,
                        one -> one.preemptions() >= 3 && 5 * one.loopRecomputedTokens() >= 4 * one.loopGainedTokens()));
        rules.put("preemption-storm-begins", RuleTruth::storm);
        rules.put("prefill-interference", run -> spells(run, Cause.PREFILL_INTERFERENCE, RuleTruth::isLater));
        rules.put(
                "prefix-hit-collapse-begins",
                run -> requests(
                        run,
                        one -> one.prefixLostTokens() >= 64
                                && 20L * one.prefixLostTokens() >= 7L * one.promptTokens()
                                && 2L * one.prefixLostTokens() > 3L * one.prefixFoundTokens(),
                        one -> 20L * one.prefixLostTokens() >= 3L * one.promptTokens()
                                && 3L * one.prefixLostTokens() > 2L * one.prefixFoundTokens()));
        rules.put(
                "priority-inversion",
                run -> requests(run, one -> one.passedOverCount() > 0, one -> one.passedOverCount() > 0));
        rules.put(
                "remote-kv-admission", run -> spells(run, Cause.REMOTE_KV_ADMISSION, token -> token.tokenIndex() == 0));
        rules.put("seat-limit", run -> spells(run, Cause.SEAT_LIMIT, token -> token.tokenIndex() == 0));
        rules.put("thermal-slowdown", run -> spells(run, Cause.THERMAL_CLOCK, RuleTruth::isLater));
        rules.put("token-budget-starvation", run -> spells(run, Cause.TOKEN_BUDGET_STARVATION, RuleTruth::isLater));
        rules.put("ttft-breach", RuleTruth::lateFirstTokens);
        return rules;
    }

    private static boolean isLater(TokenTruth token) {
        return token.tokenIndex() > 0;
    }

    // ---- tokens

    private static Map<String, List<TokenTruth>> bySequence(Simulation run) {
        return run.tokens().stream()
                .collect(Collectors.groupingBy(token -> key(token.requestId(), token.sequenceIndex())));
    }

    /** As the truth about staircases names a sequence. */
    private static String key(String requestId, int sequenceIndex) {
        return sequenceIndex == 0 ? requestId : requestId + "#" + sequenceIndex;
    }

    /**
     * Spells of tokens of one sequence that a cause and one culprit made slow: by at least half of what they lost, and by anything that
     * alone would be slow.
     */
    private static Contained spells(Simulation run, Cause cause, Predicate<TokenTruth> of) {
        long clear = 0;
        long possible = 0;
        for (List<TokenTruth> tokens : bySequence(run).values()) {
            Map<String, List<TokenTruth>> byCulprit = new TreeMap<>();
            for (TokenTruth token : tokens) {
                long nanos = token.contributions().getOrDefault(cause, 0L);
                if (of.test(token) && (token.dominantCause() == cause || nanos > SLOW_SHARE * token.baselineNanos())) {
                    // Who did most of it is known where it is what the token is slow by mainly.
                    String culprit = token.dominantCause() != cause
                            ? "not mainly"
                            : token.culpritRequestId() == null ? "" : token.culpritRequestId();
                    byCulprit
                            .computeIfAbsent(culprit, name -> new ArrayList<>())
                            .add(token);
                }
            }
            for (List<TokenTruth> slow : byCulprit.values()) {
                clear += slow.get(0).dominantCause() == cause ? spells(slow, cause, CLEAR_TOKENS) : 0;
                possible += spells(slow, cause, POSSIBLE_TOKENS);
            }
        }
        return new Contained(clear, possible);
    }

    private static long spells(List<TokenTruth> slow, Cause cause, int usualTokens) {
        long spells = 0;
        int last = Integer.MIN_VALUE / 2;
        double lostUsual = 0;
        for (TokenTruth token : slow) {
            if (token.tokenIndex() - last > SPELL_TOKENS) {
                lostUsual = 0;
            }
            boolean before = lostUsual >= usualTokens;
            lostUsual += lost(token, cause);
            spells += !before && lostUsual >= usualTokens ? 1 : 0;
            last = token.tokenIndex();
        }
        return spells;
    }

    /** One token waits for a pause by itself, whatever the tokens before it lost. */
    private static Contained pauses(Simulation run) {
        return new Contained(
                run.tokens().stream()
                        .filter(token -> isLater(token)
                                && token.dominantCause() == Cause.HOST_PAUSE
                                && lost(token, Cause.HOST_PAUSE) >= CLEAR_TOKENS)
                        .count(),
                run.tokens().stream()
                        .filter(token -> lost(token, Cause.HOST_PAUSE) >= POSSIBLE_TOKENS)
                        .count());
    }

    private static double lost(TokenTruth token, Cause cause) {
        return token.baselineNanos() <= 0
                ? 0
                : (double) token.contributions().getOrDefault(cause, 0L) / token.baselineNanos();
    }

    /** Sequences of which a gateway held most tokens, long enough for three groups of its largest, and of which it held some. */
    private static Contained buffering(Simulation run) {
        long clear = 0;
        long possible = 0;
        for (List<TokenTruth> tokens : bySequence(run).values()) {
            long held = tokens.stream()
                    .filter(token -> token.contributions().getOrDefault(Cause.GATEWAY_BUFFERING, 0L)
                            > SLOW_SHARE * token.baselineNanos())
                    .count();
            clear += held >= LEVEL && 4 * held >= 3L * tokens.size() ? 1 : 0;
            possible += held >= 3 && 4 * held >= tokens.size() ? 1 : 0;
        }
        return new Contained(clear, possible);
    }

    /** Two seconds to the first token, and a cause that it is slow by: seen a tenth of a second beside the limit on either side. */
    private static Contained lateFirstTokens(Simulation run) {
        Map<String, TokenTruth> first = new HashMap<>();
        run.tokens().stream()
                .filter(token -> token.tokenIndex() == 0)
                .forEach(token -> first.put(key(token.requestId(), token.sequenceIndex()), token));
        return requests(
                run,
                one -> {
                    TokenTruth token = first.get(key(one.requestId(), one.sequenceIndex()));
                    return one.ttftNanos() != null
                            && one.ttftNanos() >= 2_100_000_000L
                            && token != null
                            && token.dominantCause() != null
                            && !TokenTruth.isOfDelivery(token.dominantCause())
                            && lost(token, token.dominantCause()) >= CLEAR_TOKENS;
                },
                one -> one.ttftNanos() != null && one.ttftNanos() >= 1_900_000_000L);
    }

    // ---- requests

    private static Contained requests(Simulation run, Predicate<RequestTruth> clear, Predicate<RequestTruth> possible) {
        return new Contained(
                run.requests().stream().filter(clear).count(),
                run.requests().stream().filter(possible).count());
    }

    // ---- engines

    private static Map<String, List<StepTruth>> byEngine(Simulation run) {
        return run.steps().stream().collect(Collectors.groupingBy(StepTruth::engineId));
    }

    /** Stretches of 128 steps of whose tokens 30 % (13 %) were computed again, with 8 (3) preemptions. The limits are 20 % and 6. */
    private static Contained storm(Simulation run) {
        long clear = 0;
        long possible = 0;
        for (List<StepTruth> steps : byEngine(run).values()) {
            long computed = 0;
            long again = 0;
            long preempted = 0;
            for (int i = 0; i < steps.size(); i++) {
                StepTruth in = steps.get(i);
                computed += in.computedTokens();
                again += in.recomputedTokens();
                preempted += in.preemptions();
                if (i >= STORM_STEPS) {
                    StepTruth out = steps.get(i - STORM_STEPS);
                    computed -= out.computedTokens();
                    again -= out.recomputedTokens();
                    preempted -= out.preemptions();
                }
                boolean full = i >= STORM_STEPS - 1;
                clear += full && 100 * again >= 30 * computed && preempted >= 8 ? 1 : 0;
                possible += full && 100 * again >= 13 * computed && preempted >= 3 ? 1 : 0;
            }
        }
        return new Contained(clear, possible);
    }

    /** Spells by a large batch, on an engine whose batch turns so often that the law of the step moves by a half (a fifth). */
    private static Contained oscillation(Simulation run) {
        Contained slow = spells(run, Cause.BATCH_GROWTH, RuleTruth::isLater);
        int large = 0;
        int small = 0;
        for (List<StepTruth> steps : byEngine(run).values()) {
            large = Math.max(large, turns(steps, 1.5));
            small = Math.max(small, turns(steps, 1.2));
        }
        return new Contained(large >= 8 ? slow.clear() : 0, small >= 4 ? slow.possible() : 0);
    }

    /** How often the price of a step goes the other way by a factor. */
    private static int turns(List<StepTruth> steps, double factor) {
        int turns = 0;
        int direction = 0;
        double extreme = 0;
        for (StepTruth step : steps) {
            double law = step.lawNanos();
            if (extreme == 0) {
                extreme = law;
            } else if (direction >= 0 && law * factor <= extreme) {
                turns++;
                direction = -1;
                extreme = law;
            } else if (direction <= 0 && law >= extreme * factor) {
                turns++;
                direction = 1;
                extreme = law;
            } else {
                extreme = direction >= 0 ? Math.max(extreme, law) : Math.min(extreme, law);
            }
        }
        return turns;
    }

    /**
     * Rises of an engine that KV blocks lost to a slower tier made, two or more of them: those that three sequences or more live through
     * for 64 tokens on either side and that are 8 % or higher, and all.
     */
    private static Contained staircase(Simulation run) {
        long clear = 0;
        long possible = 0;
        Map<String, List<TokenTruth>> tokens = bySequence(run);
        for (StaircaseTruth engine : run.staircases()) {
            if (!engine.level().equals("engine")
                    || !engine.kvDriven()
                    || engine.onsets().size() < 2) {
                continue;
            }
            possible += engine.onsets().size();
            clear += clearRises(run, tokens);
        }
        return new Contained(clear >= 2 ? clear : 0, possible);
    }

    private static long clearRises(Simulation run, Map<String, List<TokenTruth>> tokens) {
        // A rise is the same for all that live through it: its height, to a thousandth, tells it from others.
        Map<Long, Integer> livedThrough = new TreeMap<>();
        for (StaircaseTruth of : run.staircases()) {
            List<TokenTruth> own = tokens.getOrDefault(of.key(), List.of());
            if (!of.level().equals("request")) {
                continue;
            }
            long before = 0;
            for (int i = 0; i < of.onsets().size(); i++) {
                long onset = of.onsets().get(i);
                long after = i + 1 < of.onsets().size() ? of.onsets().get(i + 1) : own.size();
                double height = slower(own, onset, Math.min(after, onset + LEVEL))
                        - slower(own, Math.max(before, onset - LEVEL), onset);
                if (onset - before >= LEVEL && after - onset >= LEVEL && height >= 0.08) {
                    livedThrough.merge(Math.round(1_000 * height), 1, Integer::sum);
                }
                before = onset;
            }
        }
        return livedThrough.values().stream()
                .filter(sequences -> sequences >= 3)
                .count();
    }

    /** By how much slower kernels made the tokens longer, in the median. */
    private static double slower(List<TokenTruth> tokens, long from, long to) {
        List<Double> shares = new ArrayList<>();
        for (long i = Math.max(0, from); i < Math.min(tokens.size(), to); i++) {
            TokenTruth token = tokens.get((int) i);
            long nanos = token.contributions().getOrDefault(Cause.KERNEL_SLOW, 0L);
            shares.add((double) nanos / Math.max(1, token.gapNanos() - nanos));
        }
        double[] sorted = shares.stream().mapToDouble(Double::doubleValue).toArray();
        Arrays.sort(sorted);
        return sorted.length == 0 ? 0 : sorted[sorted.length / 2];
    }
}
