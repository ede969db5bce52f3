package io.tokenstair.job.cases;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.archive.ResultTables;
import io.tokenstair.collect.ImportMain;
import io.tokenstair.job.AnalysisJob;
import io.tokenstair.job.JobEnvironment;
import io.tokenstair.job.capture.JobRuns;
import io.tokenstair.job.source.CollectorWatermarks;
import io.tokenstair.job.source.FolderLogSource;
import io.tokenstair.job.source.RawRecordTypeInfo;
import io.tokenstair.rule.library.RuleLibrary;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
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
        Path lines = Files.writeString(folder.resolve("variants.jsonl"), OperatorVariants.lines());
        Path log = folder.resolve("log");
        StringWriter errors = new StringWriter();
        int code = ImportMain.run(
                new PrintWriter(new StringWriter()),
                new PrintWriter(errors, true),
                false,
                "events",
                lines.toString(),
                "--log",
                log.toString(),
                "--strict");
        assertThat(code).as(errors.toString()).isZero();
        StreamExecutionEnvironment environment = JobEnvironment.local(RuntimeExecutionMode.STREAMING, 2);
        new AnalysisJob(false, RuleLibrary.builtIn().rules(), null, folder.resolve("results"))
                .wire(environment
                        .fromSource(
                                FolderLogSource.bounded(log),
                                CollectorWatermarks.strategy(CollectorWatermarks.LATENESS),
                                "log",
                                RawRecordTypeInfo.INSTANCE)
                        .uid("log"));
        environment.execute("variants");
        results = CaseResults.read(folder.resolve("results"));
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
