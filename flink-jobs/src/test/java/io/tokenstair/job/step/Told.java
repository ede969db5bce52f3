package io.tokenstair.job.step;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.StepAnalysis;
import io.tokenstair.cause.Cause;
import io.tokenstair.cause.Part;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What a timeline told, token by token. */
public final class Told implements EngineOutput {
    public final List<TokenBatch> batches = new ArrayList<>();
    public final List<SequenceFact> facts = new ArrayList<>();
    public final List<StepAnalysis> steps = new ArrayList<>();
    public final List<Finding> findings = new ArrayList<>();

    /**
     * One token.
     *
     * @param parts its parts, those that are present
     */
    public record Token(
            String requestId,
            String engineRequestId,
            int index,
            long stepId,
            long endNanos,
            @Nullable Long epochNanos,
            @Nullable Long boundNanos,
            @Nullable Long gapNanos,
            @Nullable Long expectedNanos,
            @Nullable Long referenceNanos,
            int contextTokens,
            int batchSequences,
            int flags,
            Map<Part, Long> parts,
            @Nullable SlowToken slow) {

        /** Why it was slow; null when it was not. */
        public @Nullable Cause cause() {
            return slow == null ? null : Cause.valueOf(slow.cause);
        }

        /** What was said of its slowness. It must be slow. */
        public SlowToken why() {
            return Objects.requireNonNull(slow, "token is not slow");
        }

        /** Its gap, which must be known. */
        public long gap() {
            return Objects.requireNonNull(gapNanos, "gap is not known");
        }

        /** The sum of its parts. */
        public long sum() {
            return parts.values().stream().mapToLong(Long::longValue).sum();
        }

        /** Who made it slow. */
        public @Nullable String culprit() {
            return slow == null ? null : slow.culpritRequestId;
        }

        /** Nanoseconds of a part, 0 where it is absent. */
        public long part(Part part) {
            return parts.getOrDefault(part, 0L);
        }

        /** True when a flag of {@link TokenBatch} is set. */
        public boolean is(int flag) {
            return (flags & flag) != 0;
        }

        /** Everything said of it, for comparing runs. */
        public String text() {
            return engineRequestId + " " + index + " step " + stepId + " end " + endNanos + " epoch " + epochNanos
                    + " bound " + boundNanos + " gap " + gapNanos + " expected " + expectedNanos + " reference "
                    + referenceNanos + " context " + contextTokens + " batch " + batchSequences + " flags " + flags
                    + " " + parts
                    + (slow == null
                            ? ""
                            : " " + slow.cause + " " + slow.culpritRequestId + " " + slow.confidence + " "
                                    + slow.confidenceWhy + " lost " + slow.lostNanos + " " + slow.evidence + " "
                                    + slow.chain);
        }
    }

    @Override
    public void tokens(TokenBatch batch) {
        batches.add(batch);
    }

    @Override
    public void fact(SequenceFact fact) {
        facts.add(fact);
    }

    @Override
    public void step(StepAnalysis step) {
        steps.add(step);
    }

    @Override
    public void finding(Finding finding) {
        findings.add(finding);
    }

    /** Everything that was said, whatever the order of sequences among each other. */
    public List<String> said() {
        List<String> said = new ArrayList<>();
        for (TokenBatch batch : batches) {
            said.add(batch.name.engineRequestId + " from " + batch.tokenIndex[0] + " to "
                    + batch.tokenIndex[batch.count - 1] + " at " + batch.coarseEpochMillis[batch.count - 1] + ", "
                    + batch.residentNanosPerToken + " ns per resident token");
        }
        facts.forEach(fact -> said.add(fact.kind + " " + fact.name.engineRequestId + " " + fact.clockNanos + " "
                + fact.epochNanos + " " + fact.tokens + " " + fact.otherRequestId + " " + fact.stepId));
        steps.forEach(step -> said.add(step.toString()));
        findings.forEach(finding -> said.add(finding.toString()));
        said.sort(null);
        tokens().forEach(token -> said.add(token.text()));
        return said;
    }

    /** Every token, by sequence and index. */
    public List<Token> tokens() {
        List<Token> tokens = new ArrayList<>();
        for (TokenBatch batch : batches) {
            int partAt = 0;
            for (int row = 0; row < batch.count; row++) {
                Map<Part, Long> parts = new EnumMap<>(Part.class);
                for (Part part : Part.values()) {
                    if ((batch.partMask[row] & 1 << part.ordinal()) != 0) {
                        parts.put(part, batch.partNanos[partAt++]);
                    }
                }
                tokens.add(new Token(
                        batch.name.requestId,
                        batch.name.engineRequestId,
                        batch.tokenIndex[row],
                        batch.stepId[row],
                        batch.endNanos[row],
                        orNull(batch.epochNanos[row]),
                        orNull(batch.boundNanos[row]),
                        orNull(batch.gapNanos[row]),
                        orNull(batch.expectedNanos[row]),
                        orNull(batch.referenceNanos[row]),
                        batch.contextTokens[row],
                        batch.batchSequences[row],
                        batch.flags[row],
                        parts,
                        batch.slowAt(row)));
            }
        }
        tokens.sort(Comparator.comparing(Token::engineRequestId)
                .thenComparingInt(Token::index)
                .thenComparingLong(Token::endNanos));
        return tokens;
    }

    private static @Nullable Long orNull(long value) {
        return value == TokenBatch.ABSENT ? null : Long.valueOf(value);
    }

    /** Tokens of a request, by index. */
    public List<Token> tokens(String requestId) {
        return tokens().stream()
                .filter(token -> token.requestId().equals(requestId))
                .toList();
    }

    /** One token. */
    public Token token(String requestId, int index) {
        return tokens(requestId).stream()
                .filter(token -> token.index() == index)
                .findFirst()
                .orElseThrow(() -> new AssertionError("no token " + index + " of " + requestId));
    }

    /** The last token of a request. */
    public Token last(String requestId) {
        List<Token> tokens = tokens(requestId);
        return tokens.get(tokens.size() - 1);
    }

    /** Facts of a kind. */
    public List<SequenceFact> facts(SequenceFact.Kind kind) {
        return facts.stream().filter(fact -> fact.kind == kind).toList();
    }
}
