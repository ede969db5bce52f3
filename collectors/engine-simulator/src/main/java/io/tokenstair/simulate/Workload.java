package io.tokenstair.simulate;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * The requests of a run: sessions that begin as a Poisson process, each of a few turns whose prompt is everything said before plus
 * something new, with a system prompt that a group of sessions shares. Turns come at fixed times after the session's begin, never
 * after an answer, so that the load is the same whatever the engine does.
 */
final class Workload {
    private static final long LEAST_THINK_NANOS = 3_000_000_000L;
    private static final double MEAN_THINK_NANOS = 2.5e9;
    private static final int MOST_TURNS = 5;

    private final Settings settings;
    private final RandomStream stream;

    Workload(Settings settings, RandomStream stream) {
        this.settings = settings;
        this.stream = stream;
    }

    private record Draft(long sentNanos, long session, int promptTokens, int outputTokens, int priority, int shared) {}

    /** The requests in the order of sending. */
    List<RequestPlan> requests() {
        List<Draft> drafts = new ArrayList<>();
        int wanted = Math.max(0, settings.requests - settings.extraRequests.size());
        double sessionsPerSecond = settings.requestsPerSecond / settings.meanTurns;
        double now = 0;
        // Later sessions can still have earlier turns than the last wanted one, hence twice as many.
        for (int session = 0; drafts.size() < 2 * wanted + MOST_TURNS; session++) {
            RandomStream own = stream.named("session").numbered(session);
            now += own.exponential(0, 1e9 / (sessionsPerSecond * rate(now)));
            session(drafts, session, own, (long) now);
        }
        drafts.sort(Comparator.comparingLong(Draft::sentNanos).thenComparingLong(Draft::session));
        List<Draft> chosen = new ArrayList<>(drafts.subList(0, wanted));
        for (int i = 0; i < settings.extraRequests.size() && chosen.size() < settings.requests; i++) {
            long[] extra = settings.extraRequests.get(i);
            chosen.add(new Draft(extra[0], -1L - i, (int) extra[1], (int) extra[2], (int) extra[3], 0));
        }
        chosen.sort(Comparator.comparingLong(Draft::sentNanos).thenComparingLong(Draft::session));
        List<RequestPlan> plans = new ArrayList<>(chosen.size());
        for (int number = 0; number < chosen.size(); number++) {
            plans.add(plan(number, chosen.get(number)));
        }
        return plans;
    }

    private double rate(double nanos) {
        double factor = 1;
        for (double[] change : settings.rateChanges) {
            if (nanos >= change[0] && nanos < change[1]) {
                factor *= change[2];
            }
        }
        return factor;
    }

    private void session(List<Draft> drafts, long session, RandomStream own, long startNanos) {
        long turns = 1;
        while (turns < MOST_TURNS && own.chance(100 + turns, 1 - 1 / settings.meanTurns)) {
            turns++;
        }
        int context = settings.sharedPrefixTokens;
        int priority = settings.priorities > 1 ? (int) own.between(1, 0, settings.priorities - 1) : 0;
        long sent = startNanos;
        for (int turn = 0; turn < turns; turn++) {
            int said = (int) own.between(200 + turn, settings.leastPromptTokens, settings.mostPromptTokens);
            int answer = (int) own.between(300 + turn, settings.leastOutputTokens, settings.mostOutputTokens);
            int prompt = context + said;
            drafts.add(new Draft(sent, session, prompt, answer, priority, settings.sharedPrefixTokens));
            context = prompt + answer;
            sent += LEAST_THINK_NANOS + (long) own.exponential(400 + turn, MEAN_THINK_NANOS);
        }
    }

    private int choices(int number) {
        RandomStream own = stream.named("choices");
        return own.chance(2L * number, settings.severalShare) ? (int) own.between(2L * number + 1, 2, 4) : 1;
    }

    private int abortAfterTokens(int number, Draft draft) {
        RandomStream own = stream.named("abort");
        for (Fault fault : settings.faults) {
            if (fault.kind() == FaultKind.CLIENT_ABORT
                    && fault.activeAt(draft.sentNanos())
                    && draft.outputTokens() > 1
                    && own.chance(2L * number, fault.factor())) {
                return (int) own.between(2L * number + 1, 1, draft.outputTokens() - 1);
            }
        }
        return 0;
    }

    private RequestPlan plan(int number, Draft draft) {
        int blocks = (draft.promptTokens() + draft.outputTokens()) / KvCache.BLOCK_TOKENS;
        long[] chain = new long[blocks];
        RandomStream group = stream.named("prefix").numbered(Math.floorMod(draft.session(), settings.prefixGroups));
        RandomStream session = stream.named("content").numbered(draft.session());
        long hash = 0;
        for (int block = 0; block < blocks; block++) {
            boolean shared = (block + 1) * KvCache.BLOCK_TOKENS <= draft.shared();
            hash = hash * 31 + (shared ? group : session).bits(block);
            chain[block] = hash;
        }
        String requestId = String.format(Locale.ROOT, "sim-%06d", number);
        int unique = (int) stream.named("unique").bits(number);
        return new RequestPlan(
                number,
                requestId,
                String.format(Locale.ROOT, "cmpl-%s-0-%08x", requestId, unique),
                draft.sentNanos(),
                draft.promptTokens(),
                draft.outputTokens(),
                draft.priority(),
                chain,
                settings.remotePrompts && draft.promptTokens() >= 2 * KvCache.BLOCK_TOKENS,
                choices(number),
                abortAfterTokens(number, draft));
    }
}
