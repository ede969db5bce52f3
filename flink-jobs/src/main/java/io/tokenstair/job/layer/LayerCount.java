package io.tokenstair.job.layer;

/** Events of a layer that one subtask saw. */
public class LayerCount {
    public Layer layer = Layer.CLIENT;
    public long events;
    public long rejected;

    /** For Flink's serializer. */
    public LayerCount() {}
}
