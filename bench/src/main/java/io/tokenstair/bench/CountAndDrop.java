package io.tokenstair.bench;

import java.io.Serializable;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import org.apache.flink.api.common.accumulators.LongCounter;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichFilterFunction;

/**
 * Counts rows, all of them and some, and lets none through.
 *
 * @param <T> the rows
 */
public final class CountAndDrop<T> extends RichFilterFunction<T> {
    private static final long serialVersionUID = 1L;

    private final String allName;
    private final Weight<T> weight;
    private final Some<T> some;
    private final String someName;
    private final LongCounter all = new LongCounter();
    private final LongCounter ofThem = new LongCounter();

    /** Counts all rows, and those that are {@code some}, into the accumulators of these names. */
    public CountAndDrop(String allName, Some<T> some, String someName) {
        this(allName, row -> 1, some, someName);
    }

    /** Counts all rows by their weight, and those that are {@code some}, into the accumulators of these names. */
    public CountAndDrop(String allName, Weight<T> weight, Some<T> some, String someName) {
        this.weight = weight;
        this.allName = allName;
        this.some = some;
        this.someName = someName;
    }

    /**
     * Which rows.
     *
     * @param <T> the rows
     */
    @FunctionalInterface
    public interface Some<T> extends Predicate<T>, Serializable {}

    /**
     * What a row counts as.
     *
     * @param <T> the rows
     */
    @FunctionalInterface
    public interface Weight<T> extends ToLongFunction<T>, Serializable {}

    @Override
    public void open(OpenContext context) {
        getRuntimeContext().addAccumulator(allName, all);
        getRuntimeContext().addAccumulator(someName, ofThem);
    }

    @Override
    public boolean filter(T row) {
        all.add(weight.applyAsLong(row));
        if (some.test(row)) {
            ofThem.add(1L);
        }
        return false;
    }
}
