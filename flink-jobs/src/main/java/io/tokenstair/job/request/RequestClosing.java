package io.tokenstair.job.request;

import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.cause.Cause;
import io.tokenstair.job.window.SortedWindow;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;

/** The end of a use of a request id: sends what still waits and says what there is to say of each sequence. */
final class RequestClosing {
    private final String requestId;
    private final RequestState state;
    private final RequestOutput output;
    private final Delivery delivery;
    private final TokenRows rows;
    private final RequestFindings findings;

    RequestClosing(String requestId, RequestState state, RequestOutput output, Delivery delivery, TokenRows rows) {
        this.requestId = requestId;
        this.state = state;
        this.output = output;
        this.delivery = delivery;
        this.rows = rows;
        this.findings = new RequestFindings(requestId, output);
    }

    /** Closes a use of the id: sends what waits, and says each sequence. */
    void close(LifetimeState lifetime) {
        lifetime.sequences.sort(Comparator.comparingInt((SequenceLife sequence) -> sequence.promptIndex)
                .thenComparingInt(sequence -> sequence.choice));
        if (lifetime.sequences.isEmpty()) {
            // Refused, or it never reached an engine.
            lifetime.sequences.add(new SequenceLife());
        }
        for (SequenceLife sequence : lifetime.sequences) {
            close(lifetime, sequence);
        }
    }

    private void close(LifetimeState lifetime, SequenceLife sequence) {
        if (sequence.fromEpochNanos == null && lifetime.observerOffsetNanos != null) {
            sequence.fromEpochNanos = lifetime.sentNanos + lifetime.observerOffsetNanos;
            sequence.boundNanos = RequestLife.COARSE_BOUND_NANOS;
            if (lifetime.endedNanos != null) {
                sequence.toEpochNanos = lifetime.endedNanos + lifetime.observerOffsetNanos;
            }
        }
        for (PendingToken token : sequence.undelivered) {
            rows.send(lifetime, sequence, token);
        }
        sequence.undelivered.clear();
        List<Long> chunks = sequence.unmatched;
        boolean streamOnly = !chunks.isEmpty();
        SortedWindow usual = sequence.fromEngine ? null : Delivery.usualGaps(chunks);
        for (int i = 0; i < chunks.size(); i += 3) {
            delivery.deliveredOnly(lifetime, sequence, chunks.get(i), chunks.get(i + 1), chunks.get(i + 2), usual);
        }
        chunks.clear();
        rows.release(lifetime, sequence);
        int index = Lifetimes.sequenceIndex(lifetime, sequence);
        boolean abortedByClient =
                "client-closed".equals(lifetime.outcome) || "aborted-by-client".equals(sequence.endReason);
        boolean failed = "http-error".equals(lifetime.outcome) || "failed".equals(lifetime.outcome);
        String endReason = abortedByClient
                ? "aborted-by-client"
                : failed ? "error" : sequence.endReason == null ? "unknown" : sequence.endReason;
        boolean ended = sequence.finished || lifetime.completed;
        String windowState = !ended ? "incomplete" : sequence.hole ? "gap" : "complete";

        List<String> missing = new ArrayList<>();
        if (!lifetime.observed) {
            missing.add("client");
        }
        if (!failed && (!sequence.fromEngine || streamOnly)) {
            missing.add("steps");
        }
        if (sequence.fromEngine && sequence.tokenCount > 0) {
            if (!sequence.hostCovered) {
                missing.add("host-scheduling");
            }
            if (!sequence.kvReported) {
                missing.add("kv-events");
            }
        }
        TreeSet<Cause> requestCauses = new TreeSet<>();
        if (!lifetime.warmup) {
            findings.findings(lifetime, sequence, index, abortedByClient, missing, requestCauses);
        }
        TreeSet<String> aliases = new TreeSet<>(state.aliases);
        aliases.addAll(sequence.aliases);
        Long ttft = lifetime.sentKnown && sequence.firstArrivedNanos != null
                ? Long.valueOf(sequence.firstArrivedNanos - lifetime.sentNanos)
                : null;
        Long tpot = sequence.gapCount > 0 ? Long.valueOf(sequence.gapSumNanos / sequence.gapCount) : null;
        Long recomputed =
                !sequence.discardedKnown ? null : Long.valueOf(sequence.discardedTokens - sequence.resumedCachedTokens);
        output.request(new RequestAnalysis(
                requestId,
                lifetime.ordinal,
                index,
                List.copyOf(aliases),
                List.copyOf(sequence.engines),
                windowState,
                endReason,
                ttft,
                tpot,
                sequence.tokenCount,
                sequence.promptTokens != null ? sequence.promptTokens : lifetime.promptTokens,
                sequence.cachedTokens,
                sequence.fromEngine ? Integer.valueOf(sequence.preemptions) : null,
                sequence.fromEngine ? recomputed : null,
                requestCauses.stream().map(Cause::name).toList(),
                lifetime.warmup,
                sequence.fromEpochNanos,
                sequence.toEpochNanos,
                sequence.priority != null ? sequence.priority : lifetime.priority,
                missing,
                lifetime.errorType));
    }
}
