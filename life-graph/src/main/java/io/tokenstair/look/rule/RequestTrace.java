package io.tokenstair.look.rule;

import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.look.ReadingOptions;
import io.tokenstair.look.archive.RuleQueries;
import io.tokenstair.milestone.Milestone;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.bound.RuleKey;
import io.tokenstair.rule.trace.RuleAttempt;
import io.tokenstair.rule.trace.RuleTrace;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * How far a rule got with a request: over the milestones of the request, or over those of its engine or device while it ran.
 *
 * @param requestId the request
 * @param lifetime which use of its id
 * @param rule the revision that was in force
 * @param key the key followed: {@code requestId#lifetime}, an engine or a device; {@code unknown} where the request has none
 * @param trace how far the rule got
 */
record RequestTrace(String requestId, int lifetime, BoundRule rule, String key, RuleTrace trace) {
    /**
     * Every rule over a request, by lifetime, then by rule.
     *
     * @param asked id or alias of the request
     * @param ruleId this rule only; absent for all
     */
    static List<RequestTrace> of(RuleQueries queries, ArchivedRules rules, String asked, @Nullable String ruleId) {
        Map<Integer, List<RequestAnalysis>> lifetimes = new TreeMap<>();
        for (RequestAnalysis sequence : queries.sequences(asked)) {
            lifetimes
                    .computeIfAbsent(sequence.lifetime(), lifetime -> new ArrayList<>())
                    .add(sequence);
        }
        if (lifetimes.isEmpty()) {
            return ofUnfinished(queries, rules, asked, ruleId);
        }
        List<RequestTrace> traces = new ArrayList<>();
        lifetimes.forEach((lifetime, sequences) -> {
            RequestAnalysis first = sequences.get(0);
            List<Milestone> own = own(queries, first.requestId(), lifetime);
            Span span = new Span();
            own.forEach(milestone -> span.add(milestone.coarseEpochMillis()));
            sequences.forEach(sequence -> {
                span.addNanos(sequence.fromEpochNanos());
                span.addNanos(sequence.toEpochNanos());
            });
            Set<String> engines = new TreeSet<>();
            sequences.forEach(sequence -> engines.addAll(sequence.engines()));
            traces.addAll(
                    of(queries, rules, ruleId, new Request(first.requestId(), lifetime, own, span, engines, true)));
        });
        return List.copyOf(traces);
    }

    /** A request that still runs has no row yet, but may have milestones. */
    private static List<RequestTrace> ofUnfinished(
            RuleQueries queries, ArchivedRules rules, String asked, @Nullable String ruleId) {
        Map<Integer, List<Milestone>> lifetimes = new TreeMap<>();
        for (Milestone milestone : queries.milestonesOf(asked)) {
            Integer lifetime = milestone.lifetime();
            if (lifetime != null) {
                lifetimes.computeIfAbsent(lifetime, begun -> new ArrayList<>()).add(milestone);
            }
        }
        if (lifetimes.isEmpty()) {
            throw ReadingOptions.unknown(queries.archive(), asked);
        }
        List<RequestTrace> traces = new ArrayList<>();
        lifetimes.forEach((lifetime, own) -> {
            Span span = new Span();
            own.forEach(milestone -> span.add(milestone.coarseEpochMillis()));
            traces.addAll(of(queries, rules, ruleId, new Request(asked, lifetime, own, span, Set.of(), false)));
        });
        return List.copyOf(traces);
    }

    private static List<Milestone> own(RuleQueries queries, String requestId, int lifetime) {
        return queries.milestonesOf(requestId).stream()
                .filter(milestone -> milestone.lifetime() != null && milestone.lifetime() == lifetime)
                .toList();
    }

    private static List<RequestTrace> of(
            RuleQueries queries, ArchivedRules rules, @Nullable String ruleId, Request request) {
        List<BoundRule> inForce = rules.rulesAt(request.span().fromMillis()).stream()
                .filter(rule -> ruleId == null || rule.id().equals(ruleId))
                .toList();
        long within = inForce.stream()
                .filter(rule -> rule.key() != RuleKey.REQUEST)
                .mapToLong(BoundRule::withinMillis)
                .max()
                .orElse(-1);
        List<Milestone> around = within < 0 || request.span().isEmpty()
                ? List.of()
                : queries.milestonesBetween(
                        request.span().fromMillis() - within, request.span().toMillis() + within);
        Long newest = queries.newestMilestoneMillis();
        long knownUntilMillis = newest == null ? Long.MAX_VALUE : newest;
        List<RequestTrace> traces = new ArrayList<>();
        for (BoundRule rule : inForce) {
            if (rule.key() == RuleKey.REQUEST) {
                // Whether its time is over is known once the request has been closed.
                long until = request.closed() ? Long.MAX_VALUE : knownUntilMillis;
                traces.add(new RequestTrace(
                        request.id(),
                        request.lifetime(),
                        rule,
                        request.id() + "#" + request.lifetime(),
                        RuleTrace.of(rule, request.own(), until, taken -> true)));
                continue;
            }
            Set<String> keys = request.keys(rule.key());
            for (String key : keys) {
                List<Milestone> ofKey = around.stream()
                        .filter(milestone -> key.equals(rule.key().of(milestone)))
                        .toList();
                traces.add(new RequestTrace(
                        request.id(), request.lifetime(), rule, key, follow(rule, ofKey, knownUntilMillis, request)));
            }
            if (keys.isEmpty()) {
                traces.add(new RequestTrace(
                        request.id(), request.lifetime(), rule, "unknown", RuleTrace.of(rule, List.of())));
            }
        }
        return traces;
    }

    /** True where a milestone of the best match is the request's own. */
    boolean about() {
        RuleAttempt best = trace.best();
        return best != null
                && best.milestones().stream().anyMatch(milestone -> requestId.equals(milestone.requestId()));
    }

    /** Of the matches while the request ran, those that took a milestone of it come first. */
    private static RuleTrace follow(
            BoundRule rule, Collection<Milestone> ofKey, long knownUntilMillis, Request request) {
        RuleTrace own = RuleTrace.of(
                rule,
                ofKey,
                knownUntilMillis,
                taken -> taken.stream().anyMatch(milestone -> request.id().equals(milestone.requestId())));
        return own.best() != null
                ? own
                : RuleTrace.of(
                        rule, ofKey, knownUntilMillis, taken -> request.span().meets(taken));
    }

    /**
     * A use of a request id.
     *
     * @param id the request
     * @param lifetime which use
     * @param own its milestones
     * @param span when it ran
     * @param engines where it ran; empty where unknown
     * @param closed true where nothing more is expected of it
     */
    private record Request(
            String id, int lifetime, List<Milestone> own, Span span, Set<String> engines, boolean closed) {
        Set<String> keys(RuleKey key) {
            Set<String> keys = new LinkedHashSet<>(key == RuleKey.ENGINE ? engines : Set.of());
            for (Milestone milestone : own) {
                String of = key.of(milestone);
                if (of != null) {
                    keys.add(of);
                }
            }
            return keys;
        }
    }

    /** From the first to the last instant known of a request, in ms. */
    private static final class Span {
        private long from = Long.MAX_VALUE;
        private long to = Long.MIN_VALUE;

        void add(long millis) {
            from = Math.min(from, millis);
            to = Math.max(to, millis);
        }

        void addNanos(@Nullable Long nanos) {
            if (nanos != null) {
                add(Math.floorDiv(nanos, 1_000_000L));
            }
        }

        boolean isEmpty() {
            return from > to;
        }

        long fromMillis() {
            return isEmpty() ? 0 : from;
        }

        long toMillis() {
            return isEmpty() ? 0 : to;
        }

        boolean meets(List<Milestone> taken) {
            return taken.get(0).coarseEpochMillis() <= to
                    && taken.get(taken.size() - 1).coarseEpochMillis() >= from;
        }
    }
}
