package io.tokenstair.job.cases;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.collect.ImportMain;
import io.tokenstair.job.AnalysisJob;
import io.tokenstair.job.JobEnvironment;
import io.tokenstair.job.source.CollectorWatermarks;
import io.tokenstair.job.source.FolderLogSource;
import io.tokenstair.job.source.RawRecordTypeInfo;
import io.tokenstair.rule.library.RuleLibrary;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every story of {@link SchedulingStories}: imported as a user does, all through one run of the job. */
class SchedulingStoriesIT {
    @TempDir
    static Path folder;

    private static CaseResults results = new CaseResults("", List.of(), List.of(), List.of());

    static List<String> names() {
        return SchedulingStories.all().stream().map(story -> story.name).toList();
    }

    @BeforeAll
    static void importAllAndRunTheJob() throws Exception {
        Path lines = Files.writeString(folder.resolve("stories.jsonl"), SchedulingStories.lines());
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
        environment.execute("stories");
        results = CaseResults.read(folder.resolve("results"));
    }

    @ParameterizedTest
    @MethodSource("names")
    void theCauseIsFoundAndNoneThatMustNotBe(String name) {
        EventText story = SchedulingStories.all().stream()
                .filter(each -> each.name.equals(name))
                .findFirst()
                .orElseThrow();
        assertThat(story.answers).isNotEmpty();
        story.answers.forEach(answer -> answer.accept(results.of(name)));
    }

    @Test
    void thePartsOfEveryGapSumToIt() {
        results.sums();
    }

    @Test
    void whatIsSaidOfAnyStoryIsToldInChineseToo() {
        results.toldInChinese();
    }
}
