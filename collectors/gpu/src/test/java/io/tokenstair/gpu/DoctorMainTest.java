package io.tokenstair.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class DoctorMainTest {

    private static final GpuState.Driver DRIVER = new GpuState.Driver("13.0", "580.95.05");

    @Test
    void theTextIsAlignedAndSaysWhatToDo() {
        List<Check> checks = List.of(
                Check.ok("Java", "17"),
                Check.missing("Python 3", "not found", "install it"),
                Check.optional("GPU", "none", null));

        assertThat(DoctorMain.text(checks, false)).isEqualTo("""
                        ok       Java      17
                        missing  Python 3  not found
                                           -> install it
                        -        GPU       none

                        Missing: 1, see above.
                        """);
    }

    @Test
    void withoutColourThereIsNoEscape() {
        assertThat(DoctorMain.text(List.of(Check.ok("Java", "17")), false)).doesNotContain("\u001b");
        assertThat(DoctorMain.text(List.of(Check.ok("Java", "17")), true)).contains("\u001b[32m");
    }

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
    void theJsonHasEveryCheckAndTheGpu() throws IOException {
        StringWriter out = new StringWriter();

        int exit = DoctorMain.commandLine().setOut(new PrintWriter(out)).execute("--format", "json");

        JsonNode report = new ObjectMapper().readTree(out.toString());
        assertThat(exit).isZero();
        assertThat(report.get("checks").findValuesAsText("name"))
                .containsExactly("Java", "Maven", "Python 3", "Cores", "Memory", "Disk", "GPU", "Browser", "Docker");
        assertThat(report.get("gpu").get("state").asText()).isIn("no-driver", "no-device", "unusable", "present");
    }

    @Test
    void aFolderThatIsNotThereIsAMissingDisk() {
        Doctor doctor = new Doctor(Path.of("no", "such", "folder"), new GpuState.NoDriver("none"));

        assertThat(doctor.checks())
                .filteredOn(check -> check.name().equals("Disk"))
                .extracting(Check::status)
                .containsExactly(Check.Status.MISSING);
    }

    @Test
    void aWrongOptionIsOneLineAndExitTwo() {
        StringWriter err = new StringWriter();
        CommandLine command = DoctorMain.commandLine().setErr(new PrintWriter(err, true));

        assertThat(command.execute("--colour")).isEqualTo(2);
        assertThat(err.toString()).hasLineCount(1).startsWith("tokenstair doctor: Unknown option: '--colour'");
    }
}
