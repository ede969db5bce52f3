package io.tokenstair.archive.result;

import io.tokenstair.event.Field;
import org.jspecify.annotations.Nullable;

/**
 * A layer of an engine or of the whole input, and whether it reported. Table {@code layer_report}. No cause is drawn from the
 * silence of a layer that is missing.
 *
 * @param layer client, steps, kv-events, host-scheduling, spans, metrics, gpu or runtime
 * @param reported true when at least one event came
 * @param eventCount events that came
 * @param rejectedCount input of the layer that was refused
 * @param lostCount numbered messages that never came; absent where none is missing, or they carry no numbers
 * @param firstLostNumber the first of them
 * @param lastLostNumber the last of them
 */
public record LayerReport(
        @Field(1) @Nullable String engineId,
        @Field(2) String layer,
        @Field(3) boolean reported,
        @Field(4) long eventCount,
        @Field(5) long rejectedCount,
        @Field(6) @Nullable Long lostCount,
        @Field(7) @Nullable Long firstLostNumber,
        @Field(8) @Nullable Long lastLostNumber) {

    /** A layer of which it is not known that anything was lost. */
    public LayerReport(@Nullable String engineId, String layer, boolean reported, long eventCount, long rejectedCount) {
        this(engineId, layer, reported, eventCount, rejectedCount, null, null, null);
    }
}
