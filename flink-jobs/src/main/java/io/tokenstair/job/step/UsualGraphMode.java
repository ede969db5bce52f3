package io.tokenstair.job.step;

/** The graph mode that most of the last decode-only steps had. State: a byte per step. */
public class UsualGraphMode {
    public byte[] ring = new byte[0];
    public int count;
    public int next;
    public int[] steps = new int[GraphMode.COUNT];

    /** For Flink's serializer. */
    public UsualGraphMode() {}

    /** Nothing seen yet, over the last {@code capacity} steps. */
    public UsualGraphMode(int capacity) {
        ring = new byte[capacity];
    }

    /** Adds a step's mode; the oldest one leaves a full window. */
    public void add(GraphMode mode) {
        if (count == ring.length) {
            steps[ring[next]]--;
        } else {
            count++;
        }
        ring[next] = (byte) mode.ordinal();
        next = (next + 1) % ring.length;
        steps[mode.ordinal()]++;
    }

    /** The mode of most of them; of equally many, the one with more launches; not reported before the first. */
    public GraphMode most() {
        int most = 0;
        for (int i = 1; i < steps.length; i++) {
            if (steps[i] > steps[most]) {
                most = i;
            }
        }
        return GraphMode.ofOrdinal(most);
    }
}
