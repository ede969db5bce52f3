package io.tokenstair.bench.accuracy;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class StepTimeAccuracyTest {
    private static final int SEED = 8_101;

    static List<SimulatedSteps.Engine> engines() {
        return StepTimeAccuracy.engines();
    }

    @ParameterizedTest
    @MethodSource("engines")
    void isWithinThreePercentOnSimulatedEngines(SimulatedSteps.Engine engine) {
        StepTimeAccuracy.Simulated done = StepTimeAccuracy.simulate(engine, 4_000, SEED, 1);

        assertThat(done.decodeOnly().count()).isGreaterThan(2_000);
        assertThat(done.decodeOnly().meanPercent()).isLessThan(3);
        assertThat(done.prompts().meanPercent()).isLessThan(4);
    }

    @ParameterizedTest
    @ValueSource(strings = {"quiet", "steady_load", "kv_pressure_preemption"})
    void isWithinOneAndAThirdOfAnOfflineFitOnRecordedRuns(String capture) throws Exception {
        StepTimeAccuracy.Recorded run =
                StepTimeAccuracy.recorded(CaptureSteps.of(captures().resolve(capture)));

        assertThat(run.ratio()).isLessThan(1.3);
    }

    @Test
    void theOfflineFitFindsWhatIsThere() {
        Random random = new Random(1);
        double[][] regressors = new double[500][];
        double[] nanos = new double[500];
        for (int i = 0; i < nanos.length; i++) {
            regressors[i] = new double[] {1, random.nextInt(20), random.nextInt(9_000), 0};
            nanos[i] = 5e6 + 2e5 * regressors[i][1] + 900 * regressors[i][2];
            nanos[i] *= i % 10 == 0 ? 3 : 1;
        }
        double[] fitted = RobustFit.fitted(regressors, nanos);
        for (int i = 0; i < nanos.length; i++) {
            assertThat(fitted[i] / (i % 10 == 0 ? nanos[i] / 3 : nanos[i])).isBetween(0.98, 1.02);
        }
    }

    @Test
    void profiledKernelsAreReported() throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        KernelProfiles.print(new PrintStream(bytes, true, StandardCharsets.UTF_8), null);

        assertThat(bytes.toString(StandardCharsets.UTF_8).lines().filter(line -> line.startsWith("| RTX")))
                .hasSize(6)
                .noneMatch(line -> line.contains("NaN"));
    }

    private static Path captures() {
        for (Path at = Path.of("").toAbsolutePath(); at != null; at = at.getParent()) {
            if (Files.isDirectory(at.resolve("captures"))) {
                return at.resolve("captures");
            }
        }
        throw new IllegalStateException("Cannot find the folder captures");
    }
}
