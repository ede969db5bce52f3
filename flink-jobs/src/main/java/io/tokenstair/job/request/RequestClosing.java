package io.tokenstair.job.request;

import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.cause.Cause;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The end of a use of a request id: sends what still waits and says what there is to say of each sequence. */
final class RequestClosing {
    private final String requestId;
    private final RequestState state;
    private final RequestOutput output;
    private final Delivery delivery;
    private final TokenRows rows;
    private final RequestFindings findings;

    RequestClosing(
            String requestId,
            RequestState state,
            RequestOutput output,
            Delivery delivery,
            TokenRows rows,
            RequestMilestones milestones) {
        this.requestId = requestId;
        this.state = state;
        this.output = output;
        this.delivery = delivery;
        this.rows = rows;
        this.findings = new RequestFindings(requestId, output, milestones);
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
        ObserverStream deliverer = lifetime.deliverer();
        if (sequence.fromEpochNanos == null && deliverer != null) {
            boolean aligned = deliverer.alignedOffsetNanos != null;
            Long offset = aligned ? deliverer.alignedOffsetNanos : deliverer.coarseOffsetNanos;
            if (offset != null && deliverer.sentKnown) {
                sequence.fromEpochNanos = deliverer.sentNanos + offset;
                sequence.boundNanos = aligned ? deliverer.alignedBoundNanos : RequestLife.COARSE_BOUND_NANOS;
                sequence.sigmaNanos = aligned ? Long.valueOf(deliverer.alignedSigmaNanos) : null;
                if (deliverer.endedNanos != null) {
                    sequence.toEpochNanos = deliverer.endedNanos
                            + (deliverer.endedOffsetNanos == null ? offset : deliverer.endedOffsetNanos);
                }
            }
        }
        delivery.finish(lifetime, sequence);
        rows.release(lifetime, sequence);
        int index = Lifetimes.sequenceIndex(lifetime, sequence);
        String outcome = lifetime.outcome();
        boolean abortedByClient = "client-closed".equals(outcome) || "aborted-by-client".equals(sequence.endReason);
        boolean failed = "http-error".equals(outcome) || "failed".equals(outcome);
        String endReason = abortedByClient
                ? "aborted-by-client"
                : failed ? "error" : sequence.endReason == null ? "unknown" : sequence.endReason;
        boolean ended = sequence.finished() || lifetime.completed();
        // Whose was whose cannot be told: neither use is known to its end.
        boolean ambiguous = lifetime.enginesOverlap || (lifetime.observersOverlap && !sequence.fromEngine);
        String windowState = !ended || ambiguous ? "incomplete" : sequence.hole ? "gap" : "complete";

        List<String> missing = new ArrayList<>();
        if (!lifetime.observed() || lifetime.observersOverlap) {
            missing.add("client");
        }
        if (!failed && (!sequence.fromEngine || sequence.streamOnly)) {
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
        if (sequence.unjoined) {
            missing.add("clocks");
        }
        TreeSet<Cause> requestCauses = new TreeSet<>();
        if (!lifetime.warmup) {
            findings.findings(lifetime, sequence, index, abortedByClient, missing, requestCauses);
        }
        TreeSet<String> aliases = new TreeSet<>(state.aliases);
        aliases.addAll(sequence.aliases);
        Long ttft = ttftNanos(lifetime, sequence);
        boolean stated = sequence.tokenCount == 0 && lifetime.sequences.size() == 1;
        Long tpot = sequence.gapCount > 0
                ? Long.valueOf(sequence.gapSumNanos / sequence.gapCount)
                : stated ? said(lifetime, stream -> stream.statedMeanGapNanos) : null;
        Long usage = said(lifetime, stream -> stream.usageTokens);
        if (tpot != null
                && usage != null
                && chunksHidTokens(lifetime, sequence, usage)
                && !failed
                && !abortedByClient) {
            tpot = sequence.gapSumNanos / (usage - 1);
        }
        // Neither a chunk nor a step was recorded of an answer that came: its tokens are those that its observer
        // counted.
        boolean counted = stated && usage != null && ttft != null && !failed;
        Long tokenCount =
                counted ? usage : isUncounted(lifetime, sequence, usage) ? null : Long.valueOf(sequence.tokenCount);
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
                tokenCount,
                promptTokens(lifetime, sequence),
                cachedTokens(lifetime, sequence),
                sequence.fromEngine ? Integer.valueOf(sequence.preemptions) : null,
                sequence.fromEngine ? recomputed : null,
                requestCauses.stream().map(Cause::name).toList(),
                lifetime.warmup,
                sequence.fromEpochNanos,
                sequence.toEpochNanos,
                sequence.priority != null ? sequence.priority : lifetime.priority,
                missing,
                lifetime.errorType(),
                orNull(sequence.droppedChunks),
                orNull(sequence.droppedTokens),
                orNull(sequence.invalidStamps),
                usage));
    }

    /**
     * Whether an answer came of whose tokens nobody told any: no engine made a record of it, no chunk of it was seen, not even one that ends it, and
     * its usage says that there were some, or it has several choices. Such is one that was not streamed, of which at most the sum of all choices
     * is said. One choice without a chunk and without usage is an empty answer.
     */
    private static boolean isUncounted(LifetimeState lifetime, SequenceLife sequence, @Nullable Long usageTokens) {
        return sequence.tokenCount == 0
                && !sequence.fromEngine
                && sequence.endReason == null
                && "complete".equals(lifetime.outcome())
                && (usageTokens == null ? lifetime.choicesCount != null && lifetime.choicesCount > 1 : usageTokens > 0);
    }

    /**
     * Whether chunks brought more tokens than they show: the gaps are between chunks, and the mean time of a token is their sum over
     * the engine's count.
     */
    private static boolean chunksHidTokens(LifetimeState lifetime, SequenceLife sequence, long usageTokens) {
        return !sequence.fromEngine
                && lifetime.sequences.size() == 1
                && sequence.gapCount == sequence.tokenCount - 1
                && usageTokens > sequence.tokenCount;
    }

    /** What the engine counted, else the answer's usage, else who asked. */
    private static @Nullable Long promptTokens(LifetimeState lifetime, SequenceLife sequence) {
        if (sequence.promptTokens != null) {
            return sequence.promptTokens;
        }
        int sequences = lifetime.sequences.size();
        // Choices of one prompt have its length; of several prompts usage has the sum.
        boolean onePrompt = sequences == 1 || (lifetime.choicesCount != null && lifetime.choicesCount == sequences);
        Long usage = onePrompt ? said(lifetime, stream -> stream.usagePromptTokens) : null;
        return usage != null ? usage : lifetime.promptTokens;
    }

    /** What the engine found in its cache, else what the answer's usage says of it. */
    private static @Nullable Long cachedTokens(LifetimeState lifetime, SequenceLife sequence) {
        return sequence.cachedTokens != null || lifetime.sequences.size() != 1
                ? sequence.cachedTokens
                : said(lifetime, stream -> stream.usageCachedTokens);
    }

    private static @Nullable Integer orNull(int count) {
        return count == 0 ? null : Integer.valueOf(count);
    }

    /** What the client said, else the gateway. */
    private static @Nullable Long said(LifetimeState lifetime, Function<ObserverStream, @Nullable Long> what) {
        Long byClient = lifetime.client == null ? null : what.apply(lifetime.client);
        return byClient != null || lifetime.gateway == null ? byClient : what.apply(lifetime.gateway);
    }

    /** First token's arrival less the sending, by the client, else by the gateway; absent without both, or where it is negative. */
    private static @Nullable Long ttftNanos(LifetimeState lifetime, SequenceLife sequence) {
        Long ttft = timeToFirst(lifetime, sequence);
        if (ttft != null && ttft < 0) {
            sequence.invalidStamps++;
            return null;
        }
        return ttft;
    }

    /** The same as the stamps have it, as long as they have come: may be negative. */
    static @Nullable Long timeToFirst(LifetimeState lifetime, SequenceLife sequence) {
        if (lifetime.observersOverlap) {
            return null;
        }
        Long ttft = firstAfterSent(lifetime.client, sequence.clientFirstNanos);
        return ttft != null ? ttft : firstAfterSent(lifetime.gateway, sequence.gatewayFirstNanos);
    }

    private static @Nullable Long firstAfterSent(@Nullable ObserverStream stream, @Nullable Long firstNanos) {
        if (stream == null || !stream.sentKnown) {
            return null;
        }
        Long first = firstNanos != null ? firstNanos : stream.statedFirstNanos;
        return first == null ? null : Long.valueOf(first - stream.sentNanos);
    }
}
