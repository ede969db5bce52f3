package io.tokenstair.job;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.state.heap.HeapKeyedStateBackend;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.KeyedProcessOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;
import org.jspecify.annotations.Nullable;

/**
 * A keyed operator by itself: fed in any arrival order, stopped and restored from its own snapshots, and what it said.
 *
 * @param <I> what it takes
 * @param <O> what it says
 */
public final class KeyedRun<I, O> {
    private final Supplier<KeyedProcessFunction<String, I, O>> function;
    private final KeySelector<I, String> key;
    private final ToLongFunction<I> millis;

    /** A way to run an operator. */
    public KeyedRun(
            Supplier<KeyedProcessFunction<String, I, O>> function,
            KeySelector<I, String> key,
            ToLongFunction<I> millis) {
        this.function = function;
        this.key = key;
        this.millis = millis;
    }

    /** The operator, new or restored. */
    public KeyedOneInputStreamOperatorTestHarness<String, I, O> harness(@Nullable OperatorSubtaskState restored)
            throws Exception {
        KeyedOneInputStreamOperatorTestHarness<String, I, O> harness = new KeyedOneInputStreamOperatorTestHarness<>(
                new KeyedProcessOperator<>(function.get()), key, Types.STRING, JobEnvironment.MAX_PARALLELISM, 1, 0);
        ((SerializerConfigImpl) harness.getExecutionConfig().getSerializerConfig()).setGenericTypes(false);
        harness.setup();
        if (restored != null) {
            harness.initializeState(restored);
        }
        harness.open();
        return harness;
    }

    /** The same inputs, each up to a lateness later than it should be. */
    public List<I> late(List<I> inputs, long latenessMillis, Random random) {
        List<Long> arrivals = new ArrayList<>();
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < inputs.size(); i++) {
            arrivals.add(millis.applyAsLong(inputs.get(i)) + random.nextLong(latenessMillis));
            order.add(i);
        }
        Collections.shuffle(order, random);
        order.sort(Comparator.comparing(arrivals::get));
        return order.stream().map(inputs::get).toList();
    }

    /** The watermark behind each input: as far as no later one is before it. */
    public long[] watermarks(List<I> inputs) {
        long[] watermarks = new long[inputs.size()];
        long earliest = Long.MAX_VALUE;
        for (int i = inputs.size() - 1; i >= 0; i--) {
            watermarks[i] = earliest == Long.MAX_VALUE ? Long.MIN_VALUE : earliest - 1;
            earliest = Math.min(earliest, millis.applyAsLong(inputs.get(i)));
        }
        return watermarks;
    }

    /**
     * Feeds inputs to the end, with watermarks now and then.
     *
     * @param restoreOneIn how often it is stopped and restored; 0 for never
     */
    public List<String> run(List<I> inputs, Random random, int restoreOneIn) throws Exception {
        List<String> said = new ArrayList<>();
        long[] watermarks = watermarks(inputs);
        KeyedOneInputStreamOperatorTestHarness<String, I, O> harness = harness(null);
        int restored = 0;
        for (int i = 0; i < inputs.size(); i++) {
            harness.processElement(new StreamRecord<>(inputs.get(i), millis.applyAsLong(inputs.get(i))));
            if (random.nextInt(10) == 0 && watermarks[i] != Long.MIN_VALUE) {
                harness.processWatermark(watermarks[i]);
            }
            if (restoreOneIn > 0 && random.nextInt(restoreOneIn) == 0) {
                OperatorSubtaskState snapshot = harness.snapshot(i, i);
                take(harness, said);
                harness.close();
                harness = harness(snapshot);
                restored++;
            }
        }
        assertThat(restored > 0).as("restored").isEqualTo(restoreOneIn > 0);
        finish(harness, said);
        return said;
    }

    /** Ends the input; nothing may be left. */
    public void finish(KeyedOneInputStreamOperatorTestHarness<String, I, O> harness, List<String> said)
            throws Exception {
        harness.processWatermark(Long.MAX_VALUE);
        take(harness, said);
        assertThat(harness.numEventTimeTimers()).isZero();
        assertThat(entries(harness)).as("state at the end").isZero();
        harness.close();
    }

    private int entries(KeyedOneInputStreamOperatorTestHarness<String, I, O> harness) {
        return ((HeapKeyedStateBackend<?>) Objects.requireNonNull(
                        ((AbstractStreamOperator<?>) harness.getOperator()).getKeyedStateBackend()))
                .numKeyValueStateEntries();
    }

    /** Feeds the first half of some ordered inputs and stops. */
    public OperatorSubtaskState firstHalf(List<I> inputs) throws Exception {
        try (var harness = harness(null)) {
            feed(harness, inputs, 0, inputs.size() / 2);
            return harness.snapshot(1, 1);
        }
    }

    /** Feeds the second half to what was stopped, and says what came of it. */
    public List<String> secondHalf(List<I> inputs, OperatorSubtaskState stopped) throws Exception {
        List<String> said = new ArrayList<>();
        var harness = harness(stopped);
        feed(harness, inputs, inputs.size() / 2, inputs.size());
        finish(harness, said);
        return said;
    }

    private void feed(KeyedOneInputStreamOperatorTestHarness<String, I, O> harness, List<I> inputs, int from, int to)
            throws Exception {
        long[] watermarks = watermarks(inputs);
        for (int i = from; i < to; i++) {
            harness.processElement(new StreamRecord<>(inputs.get(i), millis.applyAsLong(inputs.get(i))));
            if (i % 16 == 15 && watermarks[i] != Long.MIN_VALUE) {
                harness.processWatermark(watermarks[i]);
            }
        }
    }

    /** Takes what was said since. */
    public static <O> void take(KeyedOneInputStreamOperatorTestHarness<?, ?, O> harness, List<String> said) {
        harness.extractOutputValues().forEach(output -> said.add(output.toString()));
        harness.getOutput().clear();
    }
}
