package io.tokenstair.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class DoctorTest {

    private static final GpuState.Driver DRIVER = new GpuState.Driver("13.0", "580.95.05");

    @Test
    void aDeviceIsNamedWithItsMemoryAndDriver() {
        GpuState present =
                new GpuState.Present(DRIVER, List.of(new GpuState.Device(0, "NVIDIA H200", 150_754_820_096L, "9.0")));

        assertThat(Doctor.gpuCheck(present))
                .isEqualTo(Check.ok("GPU", "NVIDIA H200, 140.4 GiB, compute 9.0 (driver 580.95.05, CUDA 13.0)"));
    }

    @Test
    void aMachineWithoutAUsableGpuStillIsReady() {
        assertThat(List.of(
                        new GpuState.NoDriver("none"),
                        new GpuState.NoDevice(DRIVER),
                        new GpuState.Unusable(803, "cuInit answered", DRIVER)))
                .extracting(state -> Doctor.gpuCheck(state).status())
                .containsOnly(Check.Status.OPTIONAL);
    }

    @Test
    void aFolderThatIsNotThereIsAMissingDisk() {
        Doctor doctor = new Doctor(Path.of("no", "such", "folder"), new GpuState.NoDriver("none"));

        assertThat(doctor.checks())
                .filteredOn(check -> check.name().equals("Disk"))
                .extracting(Check::status)
                .containsExactly(Check.Status.MISSING);
    }
}
