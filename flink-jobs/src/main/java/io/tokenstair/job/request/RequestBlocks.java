package io.tokenstair.job.request;

import io.tokenstair.job.step.BlockShare;
import io.tokenstair.job.type.PackedBytes;
import java.io.IOException;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.util.Collector;

/**
 * What an engine says of many requests at once, in one record for each subtask that hears of them. Rows that their sequences share are in it
 * once. A record has one key: it goes by an id that leads to the subtask, and its inputs go by their own there.
 */
public final class RequestBlocks {
    /** A block of so many bytes is sent. */
    private static final int FULL_BYTES = 128 << 10;

    private final int maxParallelism;
    private final Filling[] fillings;

    /**
     * Makes blocks.
     *
     * @param maxParallelism highest parallelism of the operator that hears them
     * @param parallelism its parallelism
     */
    public RequestBlocks(int maxParallelism, int parallelism) {
        this.maxParallelism = maxParallelism;
        fillings = new Filling[parallelism];
        for (int id = 0, found = 0; found < parallelism; id++) {
            String leadingId = Integer.toString(id);
            int subtask = KeyGroupRangeAssignment.assignKeyToParallelOperator(leadingId, maxParallelism, parallelism);
            if (fillings[subtask] == null) {
                fillings[subtask] = new Filling(leadingId);
                found++;
            }
        }
    }

    /** A block that is being filled. */
    private static final class Filling {
        private final String leadingId;
        private final PackedBytes inputs = new PackedBytes();
        private final BlockShare shared = new BlockShare();
        private int count;

        Filling(String leadingId) {
            this.leadingId = leadingId;
        }
    }

    /** Adds what is said of a request. */
    public void add(RequestInput input, Collector<RequestInput> out) throws IOException {
        Filling filling = fillings[
                KeyGroupRangeAssignment.assignKeyToParallelOperator(input.requestId, maxParallelism, fillings.length)];
        RequestInputSerializer.putInBlock(input, filling.shared, filling.inputs);
        filling.count++;
        if (filling.inputs.position() > FULL_BYTES) {
            send(filling, out);
        }
    }

    /** Sends all that was added. */
    public void flush(Collector<RequestInput> out) {
        for (Filling filling : fillings) {
            if (filling.count > 0) {
                send(filling, out);
            }
        }
    }

    private static void send(Filling filling, Collector<RequestInput> out) {
        out.collect(RequestInputSerializer.block(filling.leadingId, filling.shared, filling.count, filling.inputs));
        filling.inputs.clear();
        filling.shared.clear();
        filling.count = 0;
    }
}
