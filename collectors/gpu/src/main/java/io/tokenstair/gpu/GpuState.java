package io.tokenstair.gpu;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the CUDA driver of this machine answered. */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "state")
@JsonSubTypes({
    @JsonSubTypes.Type(value = GpuState.NoDriver.class, name = "no-driver"),
    @JsonSubTypes.Type(value = GpuState.NoDevice.class, name = "no-device"),
    @JsonSubTypes.Type(value = GpuState.Unusable.class, name = "unusable"),
    @JsonSubTypes.Type(value = GpuState.Present.class, name = "present")
})
public sealed interface GpuState {

    /**
     * No CUDA driver library on this machine.
     *
     * @param why what the loader said, one line
     */
    record NoDriver(String why) implements GpuState {}

    /**
     * A driver, and no device it can see.
     *
     * @param driver the driver that answered
     */
    record NoDevice(Driver driver) implements GpuState {}

    /**
     * A driver that could not be used.
     *
     * @param code the driver's error code (a CUresult); absent where the driver did not get as far as answering
     * @param why what happened, one line
     * @param driver absent where it did not tell its version
     */
    record Unusable(
            @Nullable Integer code, String why, @Nullable Driver driver) implements GpuState {}

    /**
     * At least one device.
     *
     * @param driver the driver that answered
     * @param devices in the driver's order; never empty
     */
    record Present(Driver driver, List<Device> devices) implements GpuState {
        /** Copies the list. */
        public Present {
            devices = List.copyOf(devices);
        }
    }

    /**
     * The driver library.
     *
     * @param cudaVersion newest CUDA version it serves, as "13.0"
     * @param kernelModuleVersion version of the kernel module, as "580.95.05"; absent where the system does not tell
     */
    record Driver(String cudaVersion, @Nullable String kernelModuleVersion) {}

    /**
     * One GPU.
     *
     * @param ordinal its number for the driver, from 0
     * @param name the marketing name
     * @param memoryBytes all of its memory
     * @param computeCapability as "9.0"
     */
    record Device(int ordinal, String name, long memoryBytes, String computeCapability) {}
}
