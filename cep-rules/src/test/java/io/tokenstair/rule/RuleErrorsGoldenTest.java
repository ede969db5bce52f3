package io.tokenstair.rule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.tokenstair.rule.bound.RuleBinder;
import io.tokenstair.rule.syntax.RuleParser;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every bad rule of {@code errors/NAME.yaml} is refused with exactly the words of {@code errors/NAME.txt}. */
class RuleErrorsGoldenTest {
    @ParameterizedTest
    @MethodSource("badRules")
    void badRuleIsRefusedWithItsPlace(Path file) throws IOException {
        Path expected = file.resolveSibling(file.getFileName().toString().replace(".yaml", ".txt"));
        String message = refusal(file.getFileName().toString(), Files.readAllBytes(file));
        assertThat(message).isEqualTo(Files.readString(expected).stripTrailing());
    }

    @Test
    void fileThatIsTooBigIsRefusedUnread() {
        String message = refusal("big.yaml", new byte[RuleParser.MAX_BYTES + 1]);
        assertThat(message)
                .isEqualTo("big.yaml:1:1: Cannot read a rule of more than 262144 bytes: no more are allowed");
    }

    @Test
    void deepNestingIsRefusedBeforeItCostsAnything() {
        byte[] flow = ("id: " + "[".repeat(100_000)).getBytes(StandardCharsets.UTF_8);
        assertThat(refusal("deep.yaml", flow))
                .startsWith("deep.yaml:1:16: Cannot read values nested deeper than 12\n  1 | id: [[[")
                .endsWith("\n    |                ^");
        StringBuilder block = new StringBuilder();
        for (int depth = 0; depth < 600; depth++) {
            block.append(" ".repeat(depth)).append("a:\n");
        }
        assertThat(refusal("deep.yaml", block.toString().getBytes(StandardCharsets.UTF_8)))
                .startsWith("deep.yaml:12:12: Cannot read values nested deeper than 12");
    }

    @Test
    void fileThatIsNotUtf8IsRefused() {
        assertThat(refusal("latin.yaml", new byte[] {'i', 'd', ':', ' ', (byte) 0xE9}))
                .isEqualTo("latin.yaml:1:1: Cannot read a rule that is not UTF-8: save it as UTF-8");
    }

    @Test
    void caretStaysOnTheScreenInALongLine() {
        RuleException error = new RuleException("long.yaml", 7, 901, "Cannot read it", "x".repeat(1000));
        List<String> lines = Objects.requireNonNull(error.getMessage()).lines().toList();
        assertThat(lines).hasSize(3).allSatisfy(line -> assertThat(line).hasSizeLessThan(130));
        assertThat(lines.get(2)).isEqualTo("    | " + " ".repeat(60) + "^");
    }

    @Test
    void longWordInAMessageIsCut() {
        String name = "k".repeat(5000);
        assertThat(refusal("long.yaml", (name + ": 1\n").getBytes(StandardCharsets.UTF_8))
                        .lines())
                .hasSize(3)
                .allSatisfy(line -> assertThat(line).hasSizeLessThan(300));
        assertThat(new RuleException("a.yaml", 1, 1, "Cannot find field: " + name + ". Known: gap", ""))
                .hasMessage("a.yaml:1:1: Cannot find field: " + "k".repeat(80) + "... Known: gap");
    }

    private static String refusal(String name, byte[] utf8) {
        RuleException refused =
                catchThrowableOfType(RuleException.class, () -> RuleBinder.bind(RuleParser.parse(name, utf8)));
        assertThat(refused).as("refusal of %s", name).isNotNull();
        return Objects.requireNonNull(refused.getMessage());
    }

    static Stream<Path> badRules() throws URISyntaxException, IOException {
        Path folder = Path.of(Objects.requireNonNull(RuleErrorsGoldenTest.class.getResource("/errors"))
                .toURI());
        try (Stream<Path> files = Files.list(folder)) {
            List<Path> rules = files.filter(file -> file.toString().endsWith(".yaml"))
                    .sorted()
                    .toList();
            return rules.stream();
        }
    }
}
