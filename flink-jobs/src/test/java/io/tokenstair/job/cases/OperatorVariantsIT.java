package io.tokenstair.job.cases;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.archive.ResultTables;
import io.tokenstair.job.capture.JobRuns;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every variant of {@link OperatorVariants}: imported as a user does, all through one run of the job. */
class OperatorVariantsIT {
    @TempDir
    static Path folder;

    private static CaseResults results = new CaseResults("", List.of(), List.of(), List.of());

    static List<String> names() {
        return OperatorVariants.all().stream().map(variant -> variant.name).toList();
    }

    @BeforeAll
    static void importAllAndRunTheJob() throws Exception {
        results = CaseResults.ofEvents(EventText.lines(OperatorVariants.all()), folder);
    }

    @ParameterizedTest
    @MethodSource("names")
    void theCauseIsFoundAndNoneThatMustNotBe(String name) {
        EventText variant = OperatorVariants.all().stream()
                .filter(each -> each.name.equals(name))
                .findFirst()
                .orElseThrow();
        assertThat(variant.answers).isNotEmpty();
        variant.answers.forEach(answer -> answer.accept(results.of(name)));
    }

    @Test
    void rulesMatchOnTheCasesThatNameTheirCause() throws Exception {
        RuleTable.check(names(), results);
    }

    @Test
    void thePartsOfEveryGapSumToIt() {
        results.sums();
    }

    @Test
    void eachRankOfAnEngineHasVersionsOfItsOwnModel() throws Exception {
        TreeSet<String> models = JobRuns.rows(folder.resolve("results"), ResultTables.MODEL_SNAPSHOT);
        for (int rank = 0; rank < 2; rank++) {
            String ofRank = "dpRank=" + rank;
            assertThat(models).anyMatch(row -> row.contains("engineId=vD1, version=1,") && row.contains(ofRank));
        }
    }

    @Test
    void whatIsSaidOfAnyVariantIsToldInChineseToo() {
        results.toldInChinese();
    }
}
