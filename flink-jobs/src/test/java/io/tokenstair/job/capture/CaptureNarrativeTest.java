package io.tokenstair.job.capture;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.narrative.Language;
import io.tokenstair.narrative.Phrase;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.library.RuleLibrary;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every sentence that is said of a token, and in a finding, of a recorded run is of the one set of templates, and cites an event. */
class CaptureNarrativeTest {
    private static final Set<String> RULES =
            RuleLibrary.builtIn().rules().stream().map(BoundRule::id).collect(Collectors.toSet());

    @TempDir
    Path folder;

    static List<String> captures() throws Exception {
        return Captures.names();
    }

    @ParameterizedTest
    @MethodSource("captures")
    void everySentenceIsToldInBothLanguagesWithItsEvents(String capture) throws Exception {
        CaptureAnalysis analysis = CaptureAnalysis.of(Captures.log(capture, folder.resolve("log")));
        for (TokenAnalysis token : analysis.tokens.values()) {
            for (String sentence : token.chain()) {
                String chinese = Phrase.in(Language.ZH, sentence);
                assertThat(chinese).as(sentence).isNotEqualTo(sentence).containsPattern("\\p{IsHan}");
                assertThat(sentence).endsWith("]");
                assertThat(chinese).endsWith(sentence.substring(sentence.lastIndexOf(" [")));
            }
        }
        for (Finding finding : analysis.findings) {
            if (RULES.contains(finding.rule()) || finding.rule().endsWith("-counters")) {
                // Told in the words of the rule, or of scraped counters, which are in English only.
                continue;
            }
            for (String sentence : Phrase.sentences(finding.narrative())) {
                assertThat(Phrase.in(Language.ZH, sentence)).as(sentence).containsPattern("\\p{IsHan}");
            }
        }
    }
}
