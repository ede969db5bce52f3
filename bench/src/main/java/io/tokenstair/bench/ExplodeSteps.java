package io.tokenstair.bench;

import io.tokenstair.event.SequenceRows;
import io.tokenstair.event.StepCompleted;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.event.wire.WireException;
import io.tokenstair.job.source.RawRecord;
import org.apache.flink.api.common.functions.FlatMapFunction;
import org.apache.flink.util.Collector;

/** Decodes steps and sends a record per token: what any job pays that ships tokens one by one. */
public final class ExplodeSteps implements FlatMapFunction<RawRecord, TokenRecord> {
    private static final long serialVersionUID = 1L;

    /** A function without state. */
    public ExplodeSteps() {}

    @Override
    public void flatMap(RawRecord record, Collector<TokenRecord> out) throws WireException {
        if (!(EventCodec.decode(record.bytes).event() instanceof StepCompleted step)) {
            return;
        }
        SequenceRows rows = step.rows();
        // One for all: it is sent as bytes at once.
        TokenRecord token = new TokenRecord();
        token.engine = step.engineId().hashCode();
        token.stepId = step.stepId();
        token.beginNanos = step.scheduleStartNanos() == null ? 0 : step.scheduleStartNanos();
        token.endNanos = step.updateEndNanos();
        token.batchSequences = rows.count();
        for (int i = 0; i < rows.count(); i++) {
            token.requestHandle = rows.requestHandle(i);
            token.contextTokens = rows.contextTokens(i);
            for (int k = 0; k < rows.tokenCount(i); k++) {
                token.tokenIndex = rows.firstTokenIndex(i) + k;
                out.collect(token);
            }
        }
    }
}
