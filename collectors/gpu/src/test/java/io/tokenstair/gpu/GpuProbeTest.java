package io.tokenstair.gpu;

import static org.assertj.core.api.Assertions.as;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.type;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every answer of the probe. The driver is a double built here, since the real one needs its device. */
class GpuProbeTest {

    private static final GpuState.Driver DRIVER = new GpuState.Driver("13.1", null);

    @TempDir
    private static Path folder;

    @Test
    void withoutADriverLibraryItSaysSo() {
        assumeTrue(!Files.exists(Path.of("/proc/driver/nvidia")), "this machine has a driver");

        GpuState state = GpuProbe.ofThisMachine().detect();

        assertThat(state).isEqualTo(new GpuState.NoDriver("the library libcuda.so.1 is not installed"));
    }

    @Test
    void aDriverLibraryThatIsNoLibraryIsUnusable() throws IOException {
        Path broken = Files.createDirectories(folder.resolve("broken"));
        Files.writeString(broken.resolve("libcuda.so.1"), "not a library");

        GpuState state = GpuProbe.withEnvironment(Map.of("LD_LIBRARY_PATH", broken.toString()))
                .detect();

        assertThat(state)
                .asInstanceOf(type(GpuState.Unusable.class))
                .satisfies(unusable -> assertThat(unusable.code()).isNull())
                .satisfies(unusable -> assertThat(unusable.why()).contains("libcuda.so.1"));
    }

    @Test
    void twoDevicesAreTold() {
        GpuState state = withDouble(Map.of("DRIVER_DOUBLE_DEVICES", "2"));

        assertThat(state)
                .extracting(GpuProbeTest::withoutKernelModule)
                .isEqualTo(new GpuState.Present(
                        DRIVER,
                        List.of(
                                new GpuState.Device(0, "Double 0", 150_754_820_096L, "9.0"),
                                new GpuState.Device(1, "Double 1", 150_754_820_096L, "9.0"))));
    }

    @Test
    void aDriverThatRefusesForLackOfADeviceHasNoDevice() {
        assertThat(withDouble(Map.of("DRIVER_DOUBLE_INIT", "100")))
                .extracting(GpuProbeTest::withoutKernelModule)
                .isEqualTo(new GpuState.NoDevice(DRIVER));
    }

    @Test
    void aDriverThatCountsNoneHasNoDevice() {
        assertThat(withDouble(Map.of("DRIVER_DOUBLE_DEVICES", "0")))
                .extracting(GpuProbeTest::withoutKernelModule)
                .isEqualTo(new GpuState.NoDevice(DRIVER));
    }

    @Test
    void aDriverThatRefusesIsUnusableWithItsCode() {
        assertThat(withDouble(Map.of("DRIVER_DOUBLE_INIT", "803")))
                .extracting(GpuProbeTest::withoutKernelModule)
                .isEqualTo(
                        new GpuState.Unusable(803, "cuInit answered CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803)", DRIVER));
    }

    @Test
    void aDeviceThatDoesNotAnswerIsUnusableWithItsCode() {
        assertThat(withDouble(Map.of("DRIVER_DOUBLE_MEMORY", "999")))
                .asInstanceOf(type(GpuState.Unusable.class))
                .extracting(GpuState.Unusable::code, as(type(Integer.class)))
                .isEqualTo(999);
    }

    @Test
    void aDriverThatEndsTheProcessIsUnusable() {
        assertThat(withDouble(Map.of("DRIVER_DOUBLE_END", "yes")))
                .asInstanceOf(type(GpuState.Unusable.class))
                .extracting(GpuState.Unusable::why)
                .asString()
                .startsWith("The CUDA driver ended the process that asked it");
    }

    @Test
    @Tag("gpu")
    void theDeviceOfThisMachineIsTold() {
        assertThat(GpuProbe.ofThisMachine().detect())
                .asInstanceOf(type(GpuState.Present.class))
                .extracting(present -> present.devices().get(0))
                .satisfies(device -> {
                    assertThat(device.name()).isNotBlank();
                    assertThat(device.memoryBytes()).isGreaterThan(1L << 30);
                    assertThat(device.computeCapability()).matches("\\d+\\.\\d+");
                });
    }

    private static GpuState withDouble(Map<String, String> settings) {
        Map<String, String> environment = new HashMap<>(settings);
        environment.put("LD_LIBRARY_PATH", folderOfDouble().toString());
        return GpuProbe.withEnvironment(environment).detect();
    }

    private static Path folderOfDouble() {
        Path library = folder.resolve("libcuda.so.1");
        if (!Files.exists(library)) {
            CommandProbe.Outcome built = CommandProbe.of(List.of(
                            "cc",
                            "-shared",
                            "-fPIC",
                            "-Wall",
                            "-Werror",
                            "-Wl,-soname,libcuda.so.1",
                            "-o",
                            library.toString(),
                            "src/test/c/driver_double.c"))
                    .run();
            assumeTrue(!(built instanceof CommandProbe.NotFound), "this machine has no C compiler");
            assertThat(built).isEqualTo(new CommandProbe.Ended(0, ""));
        }
        return folder;
    }

    /** The kernel module's version is the machine's, not the double's. */
    private static GpuState withoutKernelModule(GpuState state) {
        if (state instanceof GpuState.Present present) {
            return new GpuState.Present(DRIVER, present.devices());
        }
        if (state instanceof GpuState.Unusable unusable) {
            return new GpuState.Unusable(unusable.code(), unusable.why(), DRIVER);
        }
        return state instanceof GpuState.NoDevice ? new GpuState.NoDevice(DRIVER) : state;
    }
}
