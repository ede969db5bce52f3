package io.tokenstair.bench;

import org.apache.flink.api.common.accumulators.LongCounter;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/** Counts the tokens of each request's key into an accumulator and lets none through: the least that a keyed function does. */
final class CountTokens extends KeyedProcessFunction<Long, TokenRecord, TokenRecord> {
    private static final long serialVersionUID = 1L;

    private final String name;
    private final LongCounter count = new LongCounter();

    CountTokens(String name) {
        this.name = name;
    }

    @Override
    public void open(OpenContext context) {
        getRuntimeContext().addAccumulator(name, count);
    }

    @Override
    public void processElement(TokenRecord token, Context context, Collector<TokenRecord> out) {
        count.add(1L);
    }
}
