package io.tokenstair.job.cases;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
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
        results = CaseResults.ofEvents(EventText.lines(SchedulingStories.all()), folder);
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
