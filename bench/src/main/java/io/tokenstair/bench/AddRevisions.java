package io.tokenstair.bench;

import io.tokenstair.event.EventHeader;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.RuleRevised;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.job.source.RawRecord;
import org.apache.flink.api.common.accumulators.LongCounter;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichFlatMapFunction;
import org.apache.flink.util.Collector;

/** Lets records through and adds a revision of a rule after each so many: every one a new text, to be bound anew. */
final class AddRevisions extends RichFlatMapFunction<RawRecord, RawRecord> {
    private static final long serialVersionUID = 1L;

    private final int every;
    private final String counterName;
    private final LongCounter added = new LongCounter();
    private long seen;
    private int version;

    /** Adds a revision after each {@code every} records of the first subtask; counts them into the accumulator of this name. */
    AddRevisions(int every, String counterName) {
        this.every = every;
        this.counterName = counterName;
    }

    @Override
    public void open(OpenContext context) {
        getRuntimeContext().addAccumulator(counterName, added);
    }

    @Override
    public void flatMap(RawRecord record, Collector<RawRecord> out) {
        out.collect(record);
        if (getRuntimeContext().getTaskInfo().getIndexOfThisSubtask() == 0 && ++seen % every == 0) {
            version++;
            String text = GeneratedRules.text(0, version);
            long epochMillis = record.coarseEpochMillis;
            RuleRevised revised = new RuleRevised(
                    GeneratedRules.ID_PREFIX + 0, version, RuleRevised.SET, text, null, null, null, "bench");
            byte[] bytes = EventCodec.encode(
                    new LoggedEvent(new EventHeader("bench/rules", 1, version, "none", null, epochMillis), revised));
            out.collect(RawRecord.of(bytes, "revisions", version));
            added.add(1L);
        }
    }
}
