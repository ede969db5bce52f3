package io.tokenstair.job.request;

import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.job.step.RowReader;
import io.tokenstair.job.step.TokenBatch;
import java.util.function.Consumer;
import org.apache.flink.api.common.typeinfo.TypeInfo;

/**
 * Consecutive tokens of one sequence that nothing is said of but their numbers: not slow, no observer, the first token not among them.
 * Nearly all tokens are such. They stay the rows their engine's side wrote until somebody wants {@link TokenAnalysis} of them.
 */
@TypeInfo(TokenRunTypeInfo.Factory.class)
public final class TokenRun {
    final String requestId;
    final int lifetime;
    final int sequenceIndex;
    final TokenBatch batch;
    final int fromRow;
    final int toRow;

    TokenRun(String requestId, int lifetime, int sequenceIndex, TokenBatch batch, int fromRow, int toRow) {
        this.requestId = requestId;
        this.lifetime = lifetime;
        this.sequenceIndex = sequenceIndex;
        this.batch = batch;
        this.fromRow = fromRow;
        this.toRow = toRow;
    }

    /** How many tokens it holds. */
    public int count() {
        return toRow - fromRow;
    }

    /** Says each token. */
    public void forEach(Consumer<TokenAnalysis> rows) {
        RowReader reader = new RowReader();
        reader.begin(batch);
        for (int i = 0; i < toRow; i++) {
            reader.read();
            if (i >= fromRow) {
                rows.accept(TokenRows.row(
                        requestId,
                        lifetime,
                        sequenceIndex,
                        false,
                        false,
                        EngineSide.pending(batch, reader.row(), null)));
            }
        }
    }
}
