package io.tokenstair.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Keeps the benchmark alive: it runs, and every token comes out of every variant. How fast is never asserted. */
class WholeJobBenchTest {

    @Test
    void everyTokenComesOutOfEveryVariant(@TempDir Path scratch) throws Exception {
        Fleet fleet = Fleet.of(new FleetSize(20_000, 16, 64, 2, true));
        try (FleetRun run = new FleetRun(fleet, 2, scratch, 0, true)) {
            for (Variant variant : Variant.values()) {
                Measurement measurement = run.of(variant);
                assertThat(measurement.tokens())
                        .as(variant.variantName())
                        .isEqualTo(fleet.size().exactTokens());
                if (variant.name().contains("RULES") && variant != Variant.JOB_NO_RULES) {
                    assertThat(measurement.subtaskGapMillis().keySet())
                            .as(variant.variantName())
                            .contains(
                                    "run-rules-request 0",
                                    "run-rules-request 1",
                                    "run-rules-engine 0",
                                    "schedule-rules 0");
                }
                assertThat(measurement.archiveBytes() > 0)
                        .as(variant.variantName() + " writes")
                        .isEqualTo(variant == Variant.JOB_RAW || variant == Variant.JOB_RAW_TOKENS);
            }
        }
        assertThat(scratch).isEmptyDirectory();
    }

    @Test
    void theSameSizeMakesTheSameFleet() {
        FleetSize size = new FleetSize(1_000, 8, 16, 1, false);
        assertThat(Fleet.of(size).partition(0)).isDeepEqualTo(Fleet.of(size).partition(0));
    }
}
