package io.tokenstair.bench.accuracy;

import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.cause.Cause;
import io.tokenstair.cause.DeliveryPart;
import io.tokenstair.cause.Part;
import io.tokenstair.simulate.Layers;
import io.tokenstair.simulate.Scenario;
import io.tokenstair.simulate.Simulation;
import io.tokenstair.simulate.TokenTruth;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** What the product said of simulated runs, counted against their truth. */
final class AttributionScore {
    /** Causes that are shown by records of kernels, memory, devices or hosts alone: without these {@link Cause#UNRESOLVED_STALL} is right. */
    static final Set<Cause> NEED_RECORDS = EnumSet.of(
            Cause.KERNEL_SLOW,
            Cause.THERMAL_CLOCK,
            Cause.JIT_COMPILE,
            Cause.ALLOC_STALL,
            Cause.STREAM_SYNC,
            Cause.DRIVER_ERROR,
            Cause.COLLECTIVE_WAIT,
            Cause.HOST_PAUSE,
            Cause.HOST_CONTENTION);

    /** Scenarios whose kernels stay slower to the end. Their truth compares with how it once was, the product with how it usually is. */
    static final Set<Scenario> LASTING =
            EnumSet.of(Scenario.KV_PRESSURE, Scenario.CONTEXT_STAIRCASE, Scenario.LEVEL_SHIFT, Scenario.RAMP);

    /** Causes of requests and engines, and the scenarios that are made to show them. */
    static final Map<Cause, Set<Scenario>> FINDINGS = findings();

    /** Tokens of one kind. */
    static final class Count {
        long compared;
        long right;
        long missed;
        /** Tokens whose gap is within 15 % of the usual one in truth, and how many of them the product calls slow. */
        long usual;

        long usualCalledSlow;

        double share() {
            return compared == 0 ? 1 : (double) right / compared;
        }
    }

    final Layers layers;
    final Map<Scenario, Count> byScenario = new EnumMap<>(Scenario.class);
    final Map<Cause, Map<Cause, Long>> confusion = new EnumMap<>(Cause.class);
    final Map<Cause, Map<Scenario, Integer>> runsWithFinding = new EnumMap<>(Cause.class);
    final Count all = new Count();

    /** By true cause, the tokens whose cause was said right and whose culprit is known: was it the one that was said? */
    final Map<Cause, Count> culprits = new EnumMap<>(Cause.class);

    int runs;
    long tokens;
    long inexact;
    long leftOut;
    long notAnalysed;
    long slowInTruth;

    /** Counts over runs with some layers. */
    AttributionScore(Layers layers) {
        this.layers = layers;
    }

    private static Map<Cause, Set<Scenario>> findings() {
        Map<Cause, Set<Scenario>> map = new EnumMap<>(Cause.class);
        map.put(Cause.PREEMPTION_LOOP, EnumSet.of(Scenario.PREEMPTION_LOOP));
        map.put(Cause.PREEMPTION_STORM, EnumSet.of(Scenario.PREEMPTION_STORM));
        map.put(Cause.PREEMPTED_THEN_OVERTAKEN, EnumSet.of(Scenario.OVERTAKEN));
        map.put(Cause.PREFIX_HIT_COLLAPSE, EnumSet.of(Scenario.PREFIX_COLLAPSE));
        map.put(Cause.BATCH_OSCILLATION, EnumSet.of(Scenario.BATCH_OSCILLATION));
        map.put(Cause.CONTEXT_STAIRCASE, EnumSet.of(Scenario.CONTEXT_STAIRCASE, Scenario.KV_PRESSURE));
        map.put(Cause.MODEL_LOAD_SLOW, EnumSet.of(Scenario.MODEL_LOAD_SLOW));
        return map;
    }

    /** Counts one run. */
    void add(Scenario scenario, Simulation run, LogAnalysis said) {
        runs++;
        Map<String, TokenAnalysis> byKey = new HashMap<>();
        for (TokenAnalysis token : said.tokens) {
            byKey.put(key(token.requestId(), token.sequenceIndex(), token.tokenIndex()), token);
            tokens++;
            inexact += isExact(token) ? 0 : 1;
        }
        Count count = byScenario.computeIfAbsent(scenario, name -> new Count());
        for (TokenTruth truth : run.tokens()) {
            Cause cause = truth.dominantCause();
            if (cause == null) {
                usual(count, truth, byKey.get(key(truth.requestId(), truth.sequenceIndex(), truth.tokenIndex())));
                continue;
            }
            TokenAnalysis token = byKey.get(key(truth.requestId(), truth.sequenceIndex(), truth.tokenIndex()));
            if (cause == Cause.KERNEL_SLOW && LASTING.contains(scenario)) {
                leftOut++;
            } else if (token == null || token.gapNanos() == null) {
                notAnalysed++;
            } else {
                slowInTruth++;
                compare(count, cause, TokenTruth.isOfDelivery(cause) ? token.deliveryCause() : token.cause());
                String culprit = truth.culpritRequestId();
                if (culprit != null && cause.name().equals(token.cause())) {
                    Count of = culprits.computeIfAbsent(cause, name -> new Count());
                    of.compared++;
                    of.right += culprit.equals(token.culpritRequestId()) ? 1 : 0;
                    of.missed += token.culpritRequestId() == null ? 1 : 0;
                }
            }
        }
        for (Cause cause : FINDINGS.keySet()) {
            if (said.findings.stream().anyMatch(finding -> finding.cause().equals(cause.name()))) {
                runsWithFinding
                        .computeIfAbsent(cause, name -> new EnumMap<>(Scenario.class))
                        .merge(scenario, 1, Integer::sum);
            }
        }
    }

    /** The other side of the coin: a token that took what is usual, and what was said of it. */
    private static void usual(Count count, TokenTruth truth, @Nullable TokenAnalysis said) {
        boolean isUsual = truth.tokenIndex() > 0 && 100 * truth.gapNanos() <= 115 * truth.baselineNanos();
        if (isUsual && said != null && said.gapNanos() != null) {
            count.usual++;
            count.usualCalledSlow += said.cause() == null ? 0 : 1;
        }
    }

    private void compare(Count count, Cause truth, @Nullable String said) {
        if (said == null) {
            count.missed++;
            all.missed++;
            return;
        }
        Cause cause = Cause.valueOf(said);
        boolean right = isRight(truth, cause);
        count.compared++;
        all.compared++;
        count.right += right ? 1 : 0;
        all.right += right ? 1 : 0;
        confusion.computeIfAbsent(truth, name -> new EnumMap<>(Cause.class)).merge(cause, 1L, Long::sum);
    }

    private boolean isRight(Cause truth, Cause said) {
        return said == truth
                || (layers == Layers.BASIC && said == Cause.UNRESOLVED_STALL && NEED_RECORDS.contains(truth));
    }

    /** Each true cause counts alike, however many tokens it has. */
    double meanOverCauses() {
        double sum = 0;
        for (Map.Entry<Cause, Map<Cause, Long>> row : confusion.entrySet()) {
            long right = 0;
            long compared = 0;
            for (Map.Entry<Cause, Long> cell : row.getValue().entrySet()) {
                right += isRight(row.getKey(), cell.getKey()) ? cell.getValue() : 0;
                compared += cell.getValue();
            }
            sum += (double) right / compared;
        }
        return confusion.isEmpty() ? 1 : sum / confusion.size();
    }

    private static String key(String requestId, int sequenceIndex, int tokenIndex) {
        return requestId + '#' + sequenceIndex + '@' + tokenIndex;
    }

    /** Whether the parts of a token sum to its gap, and those of its delivery to that, to the nanosecond. */
    static boolean isExact(TokenAnalysis token) {
        return isSum(token.gapNanos(), Part.values(), token::partNanos)
                && isSum(token.deliveryNanos(), DeliveryPart.values(), token::partNanos);
    }

    /** Where there is no part nothing is claimed. */
    private static <P> boolean isSum(@Nullable Long total, P[] parts, Function<P, @Nullable Long> nanosOf) {
        long sum = 0;
        boolean any = false;
        for (P part : parts) {
            Long nanos = nanosOf.apply(part);
            sum += nanos == null ? 0 : nanos;
            any |= nanos != null;
        }
        return !any || (total != null && total == sum);
    }
}
