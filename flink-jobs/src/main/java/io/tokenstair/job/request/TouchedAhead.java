package io.tokenstair.job.request;

import org.jspecify.annotations.Nullable;

/**
 * Reads what several requests keep in many small objects before they are drained one after the other. None of it is in the processor's cache
 * by then, and each object says where the next one is: of one request the processor would wait for one after the other, of several it waits
 * for all that lie equally deep at once. Says and changes nothing.
 */
final class TouchedAhead {
    /** How many requests at once. */
    static final int REQUESTS = 16;

    private final @Nullable RequestBuffer[] buffers = new @Nullable RequestBuffer[REQUESTS];
    private final @Nullable RequestState[] requests = new @Nullable RequestState[REQUESTS];
    private final @Nullable RequestInput[] firsts = new @Nullable RequestInput[REQUESTS];
    private final @Nullable LifetimeState[] lifetimes = new @Nullable LifetimeState[REQUESTS];
    private final @Nullable SequenceLife[] sequences = new @Nullable SequenceLife[REQUESTS];

    /** What was read, so that reading it is not left out. */
    private long read;

    /** Reads what these requests keep. */
    void touch(@Nullable RequestPlace[] places, int from, int to) {
        int count = Math.min(REQUESTS, to - from);
        long sum = read;
        for (int i = 0; i < count; i++) {
            RequestPlace place = places[from + i];
            buffers[i] = place == null ? null : place.buffer;
            requests[i] = place == null ? null : place.request;
        }
        for (int i = 0; i < count; i++) {
            RequestBuffer buffer = buffers[i];
            RequestState request = requests[i];
            sum += buffer == null ? 0 : buffer.inputs.size() + buffer.waiting();
            sum += request == null ? 0 : request.open.size();
        }
        for (int i = 0; i < count; i++) {
            RequestBuffer buffer = buffers[i];
            sum += buffer == null ? 0 : buffer.earliestMillis();
            firsts[i] = buffer == null || buffer.inputs.isEmpty() ? null : buffer.inputs.get(0);
            RequestState request = requests[i];
            lifetimes[i] = request == null || request.open.isEmpty() ? null : request.open.get(0);
        }
        for (int i = 0; i < count; i++) {
            RequestInput first = firsts[i];
            sum += first == null ? 0 : first.touch();
            LifetimeState lifetime = lifetimes[i];
            sequences[i] = lifetime == null || lifetime.sequences.isEmpty() ? null : lifetime.sequences.get(0);
            sum += lifetime == null ? 0 : lifetime.uniques.size();
        }
        for (int i = 0; i < count; i++) {
            SequenceLife sequence = sequences[i];
            if (sequence != null) {
                sum += sequence.tokenCount
                        + sequence.growthXx
                        + sequence.gapCount
                        + sequence.contextMark
                        + sequence.engines.size()
                        + sequence.aliases.size()
                        + sequence.staircase.touch();
            }
        }
        read = sum;
    }
}
