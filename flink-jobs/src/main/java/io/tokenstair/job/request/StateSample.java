package io.tokenstair.job.request;

import java.io.IOException;
import java.util.Collection;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataOutputSerializer;

/**
 * What the requests of a subtask take in a checkpoint, from a sample of them: to write all a second time only to know their size would
 * cost as much as the checkpoint.
 */
final class StateSample {
    /** Requests that are written, at most twice as many. */
    static final int REQUESTS = 64;

    private final TypeSerializer<RequestBuffer> buffers;
    private final TypeSerializer<RequestState> requests;
    private final DataOutputSerializer scratch = new DataOutputSerializer(4_096);

    /** Read by the thread of the metrics. */
    private volatile double bytes = Double.NaN;

    /** Writes as a checkpoint does. */
    StateSample(TypeSerializer<RequestBuffer> buffers, TypeSerializer<RequestState> requests) {
        this.buffers = buffers;
        this.requests = requests;
    }

    /** Measures at a checkpoint. The places lie in the order of their hashes, so every n-th is a fair choice. */
    void measure(Collection<RequestPlace> places) throws IOException {
        int every = Math.max(1, places.size() / REQUESTS);
        long written = 0;
        int measured = 0;
        int index = 0;
        for (RequestPlace place : places) {
            if (index++ % every == 0) {
                scratch.clear();
                buffers.serialize(place.buffer, scratch);
                requests.serialize(place.request, scratch);
                written += scratch.length();
                measured++;
            }
        }
        bytes = measured == 0 ? 0 : (double) written / measured * places.size();
    }

    /** Bytes at the last checkpoint; exact for fewer than twice {@link #REQUESTS} requests, else an estimate; NaN before the first checkpoint. */
    double bytes() {
        return bytes;
    }
}
