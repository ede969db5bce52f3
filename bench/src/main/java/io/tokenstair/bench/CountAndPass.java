package io.tokenstair.bench;

import org.apache.flink.api.common.accumulators.LongCounter;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichFilterFunction;

/**
 * Counts rows and lets all through.
 *
 * @param <T> the rows
 */
public final class CountAndPass<T> extends RichFilterFunction<T> {
    private static final long serialVersionUID = 1L;

    private final String name;
    private final LongCounter all = new LongCounter();

    /** Counts into the accumulator of this name. */
    public CountAndPass(String name) {
        this.name = name;
    }

    @Override
    public void open(OpenContext context) {
        getRuntimeContext().addAccumulator(name, all);
    }

    @Override
    public boolean filter(T row) {
        all.add(1L);
        return true;
    }
}
