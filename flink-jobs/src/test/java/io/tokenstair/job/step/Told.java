package io.tokenstair.job.step;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.ModelSnapshot;
import io.tokenstair.archive.result.StepAnalysis;
import io.tokenstair.cause.Cause;
import io.tokenstair.cause.Part;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.Rejected;
import io.tokenstair.milestone.Milestone;
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
    public final List<ModelSnapshot> models = new ArrayList<>();
    public final List<Finding> findings = new ArrayList<>();
    public final List<Milestone> milestones = new ArrayList<>();
    public final List<Rejected> rejected = new ArrayList<>();

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
    public void rejected(LoggedEvent event) {
        rejected.add((Rejected) event.event());
    }

    /** Findings of a cause. */
    public List<Finding> findings(Cause cause) {
        return findings.stream()
                .filter(finding -> finding.cause().equals(cause.name()))
                .toList();
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
    public void model(ModelSnapshot snapshot) {
        models.add(snapshot);
    }

    @Override
    public void finding(Finding finding) {
        findings.add(finding);
    }

    @Override
    public void milestone(Milestone milestone) {
        milestones.add(milestone);
    }

    /** Everything that was said, whatever the order of sequences among each other. */
    public List<String> said() {
        List<String> said = new ArrayList<>();
        for (TokenBatch batch : batches) {
            List<TokenRow> rows = rows(batch);
            said.add(batch.name.engineRequestId + " from " + rows.get(0).tokenIndex + " to "
                    + rows.get(batch.count - 1).tokenIndex + " at " + batch.lastCoarseEpochMillis + " of "
                    + batch.lastStepEventId() + ", "
                    + batch.residentNanosPerToken + " ns per resident token");
        }
        facts.forEach(fact -> said.add(fact.kind + " " + fact.name.engineRequestId + " " + fact.clockNanos + " "
                + fact.epochNanos + " " + fact.tokens + " " + fact.otherRequestId + " " + fact.stepId));
        steps.forEach(step -> said.add(step.toString()));
        models.forEach(model -> said.add(model.toString()));
        findings.forEach(finding -> said.add(finding.toString()));
        said.sort(null);
        tokens().forEach(token -> said.add(token.text()));
        return said;
    }

    /** Every token, by sequence and index. */
    public List<Token> tokens() {
        List<Token> tokens = new ArrayList<>();
        for (TokenBatch batch : batches) {
            List<TokenRow> rows = rows(batch);
            for (int i = 0; i < batch.count; i++) {
                TokenRow row = rows.get(i);
                Map<Part, Long> parts = new EnumMap<>(Part.class);
                for (Part part : Part.values()) {
                    if ((row.partMask & 1 << part.ordinal()) != 0) {
                        parts.put(part, row.partNanos(part));
                    }
                }
                tokens.add(new Token(
                        batch.name.requestId,
                        batch.name.engineRequestId,
                        row.tokenIndex,
                        row.stepId,
                        row.endNanos,
                        orNull(row.epochNanos),
                        orNull(row.boundNanos),
                        orNull(row.gapNanos),
                        orNull(row.expectedNanos),
                        orNull(row.referenceNanos),
                        row.contextTokens,
                        row.batchSequences,
                        row.flags,
                        parts,
                        batch.slowAt(i)));
            }
        }
        tokens.sort(Comparator.comparing(Token::engineRequestId)
                .thenComparingInt(Token::index)
                .thenComparingLong(Token::endNanos));
        return tokens;
    }

    /** The rows of a batch, each by itself. */
    public static List<TokenRow> rows(TokenBatch batch) {
        List<TokenRow> rows = new ArrayList<>();
        TokenRow row = new TokenRow();
        TokenBatch whole = batch.whole();
        int at = whole.rowsFrom;
        for (int i = 0; i < batch.count; i++) {
            at = row.read(whole.rows, at);
            TokenRow copy = new TokenRow();
            copy.set(row);
            rows.add(copy);
        }
        if (at != whole.rowsTo) {
            throw new AssertionError("rows end at " + at + ", not at " + whole.rowsTo);
        }
        return rows;
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
