package io.tokenstair.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.cause.Cause;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Each cause has a page, each page a cause. */
class CausePagesTest {

    private static final Path PAGES = Path.of("..", "docs", "causes");
    private static final List<String> HEADINGS =
            List.of("## What it is", "## The evidence", "## What it is confused with", "## What to do about it");

    @ParameterizedTest
    @EnumSource(Cause.class)
    void aCauseHasAPageWithTheFourHeadings(Cause cause) throws IOException {
        List<String> lines = Files.readAllLines(PAGES.resolve(fileName(cause)));

        assertThat(lines).first().isEqualTo("# " + cause);
        assertThat(lines).filteredOn(line -> line.startsWith("## ")).isEqualTo(HEADINGS);
        for (String heading : HEADINGS) {
            assertThat(lines.get(lines.indexOf(heading) + 2))
                    .as("text under %s", heading)
                    .isNotBlank();
        }
    }

    @Test
    void everyPageIsThatOfACause() throws IOException {
        try (Stream<Path> pages = Files.list(PAGES)) {
            assertThat(pages.map(page -> page.getFileName().toString()).filter(name -> !name.equals("README.md")))
                    .containsExactlyInAnyOrderElementsOf(Arrays.stream(Cause.values())
                            .map(CausePagesTest::fileName)
                            .toList());
        }
    }

    @Test
    void theIndexListsTheCausesInOrderOfPrecedence() throws IOException {
        List<String> listed = Files.readAllLines(PAGES.resolve("README.md")).stream()
                .filter(line -> line.startsWith("| ["))
                .map(line -> line.substring(3, line.indexOf(']')))
                .toList();

        assertThat(listed)
                .isEqualTo(Arrays.stream(Cause.values()).map(Enum::name).toList());
    }

    private static String fileName(Cause cause) {
        return cause.name().toLowerCase(Locale.ROOT).replace('_', '-') + ".md";
    }
}
