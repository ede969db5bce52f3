package io.tokenstair.archive.result;

import io.tokenstair.event.Field;
import org.jspecify.annotations.Nullable;

/**
 * A layer of an engine or of the whole input, and whether it reported. Table {@code layer_report}. No cause is drawn from the
 * silence of a layer that is missing.
 *
 * @param layer client, steps, kv-events, host-scheduling, spans or metrics
 * @param reported true when at least one event came
 * @param eventCount events that came
 * @param rejectedCount input of the layer that was refused
 */
public record LayerReport(
        @Field(1) @Nullable String engineId,
        @Field(2) String layer,
        @Field(3) boolean reported,
        @Field(4) long eventCount,
        @Field(5) long rejectedCount) {}
