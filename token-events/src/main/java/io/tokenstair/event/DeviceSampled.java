package io.tokenstair.event;

import org.jspecify.annotations.Nullable;

/**
 * A reading of a device. Header stamp: the reading.
 *
 * @param engineId the engine, one scheduler; absent when it serves no engine, or several
 * @param deviceId the device
 * @param smClockHertz clock of the multiprocessors, in Hz; absent when not reported
 * @param memoryClockHertz clock of the memory, in Hz; absent when not reported
 * @param powerMilliwatts power drawn, in mW; absent when not reported
 * @param temperatureMillicelsius temperature, in m°C; absent when not reported
 * @param throttleReason why the driver slows the device, as it names it; absent when there is none or it is not reported
 */
public record DeviceSampled(
        @Field(1) @Nullable String engineId,
        @Field(2) String deviceId,
        @Field(3) @Nullable Long smClockHertz,
        @Field(4) @Nullable Long memoryClockHertz,
        @Field(5) @Nullable Long powerMilliwatts,
        @Field(6) @Nullable Long temperatureMillicelsius,
        @Field(7) @Nullable String throttleReason)
        implements Event {

    @Override
    public EventKind kind() {
        return EventKind.DEVICE_SAMPLED;
    }

    @Override
    public <R> R accept(Visitor<R> visitor) {
        return visitor.visit(this);
    }
}
