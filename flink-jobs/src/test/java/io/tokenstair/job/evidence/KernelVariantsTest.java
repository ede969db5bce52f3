package io.tokenstair.job.evidence;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.job.evidence.KernelVariants.Change;
import io.tokenstair.job.evidence.KernelVariants.Ran;
import java.util.List;
import org.junit.jupiter.api.Test;

class KernelVariantsTest {
    private static final String DECODE = "attention decode";

    private final KernelVariants variants = new KernelVariants();

    private static Ran ran(String name, long nanos) {
        return new Ran(name, nanos, "event-of-" + name);
    }

    private void usually(String shape, int steps, Ran... kernels) {
        for (int i = 0; i < steps; i++) {
            assertThat(variants.step(shape, List.of(kernels), true, 1_000)).isNull();
        }
    }

    @Test
    void anotherKernelOfTheSameShapeThatTakesLongerIsAChange() {
        usually(DECODE, 20, ran("flash", 1_000), ran("combine", 50));

        Change change = variants.step(DECODE, List.of(ran("paged", 3_000), ran("combine", 50)), true, 1_000);

        assertThat(change).isEqualTo(new Change("paged", "flash", 2_000, "event-of-paged"));
        assertThat(variants.step(DECODE, List.of(ran("paged", 3_000), ran("combine", 50)), true, 1_000))
                .isNotNull();
    }

    @Test
    void whatGoesOnLongEnoughIsUsual() {
        usually(DECODE, 40, ran("flash", 1_000));
        int told = 0;
        while (variants.step(DECODE, List.of(ran("paged", 3_000)), true, 1_000) != null) {
            told++;
        }

        assertThat(told).isBetween(10, 128);
        usually(DECODE, 300, ran("paged", 3_000));
        assertThat(variants.step(DECODE, List.of(ran("flash", 1_000)), true, 1_000))
                .isNull();
    }

    @Test
    void aVariantThatTakesNoLongerIsNone() {
        usually(DECODE, 20, ran("flash", 1_000));

        assertThat(variants.step(DECODE, List.of(ran("flash3", 1_050)), true, 1_000))
                .isNull();
        assertThat(variants.step(DECODE, List.of(ran("flash3", 500)), true, 1_000))
                .isNull();
    }

    @Test
    void theSameKernelThatTakesLongerIsNone() {
        usually(DECODE, 20, ran("flash", 1_000));

        assertThat(variants.step(DECODE, List.of(ran("flash", 9_000)), true, 1_000))
                .isNull();
    }

    @Test
    void aKernelMoreBesideTheUsualOnesIsNone() {
        usually(DECODE, 20, ran("flash", 1_000), ran("combine", 50));

        assertThat(variants.step(DECODE, List.of(ran("flash", 1_000), ran("extra", 900)), true, 1_000))
                .isNull();
    }

    @Test
    void eachShapeHasItsOwnUsualKernels() {
        usually("gemm decode 8", 20, ran("tile_64", 1_000));
        usually("gemm decode 16", 20, ran("tile_128", 1_700));

        assertThat(variants.step("gemm decode 24", List.of(ran("tile_256", 4_000)), false, 1_000))
                .isNull();
        assertThat(variants.step("gemm decode 16", List.of(ran("tile_128", 1_700)), false, 1_000))
                .isNull();
    }

    @Test
    void kernelsThatTakeTurnsAreNone() {
        for (int i = 0; i < 200; i++) {
            Ran now = i % 2 == 0 ? ran("split_2", 1_000) : ran("split_4", 1_400);
            assertThat(variants.step(DECODE, List.of(now), true, 1_000)).isNull();
        }
    }

    @Test
    void whatTheContextExplainsIsNone() {
        usually(DECODE, 20, ran("flash", 1_000));

        assertThat(variants.step(DECODE, List.of(ran("flash_split", 3_900)), true, 4_000))
                .isNull();
        assertThat(variants.step(DECODE, List.of(ran("flash_split", 9_000)), true, 4_000))
                .isNotNull();
    }

    @Test
    void tooFewStepsAreNothingUsual() {
        usually(DECODE, 7, ran("flash", 1_000));

        assertThat(variants.step(DECODE, List.of(ran("paged", 9_000)), true, 1_000))
                .isNull();
    }

    @Test
    void whatIsRememberedIsBounded() {
        for (int i = 0; i < 10_000; i++) {
            variants.step("shape " + i % 300, List.of(ran("kernel " + i, 1_000)), false, 1_000);
        }

        assertThat(variants.shapes).hasSize(KernelVariants.SHAPES);
        assertThat(variants.shapes.values())
                .allSatisfy(shape -> assertThat(shape.variants).hasSizeLessThanOrEqualTo(KernelVariants.NAMES));
    }
}
