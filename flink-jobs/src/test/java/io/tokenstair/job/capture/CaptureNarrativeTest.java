package io.tokenstair.job.capture;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.job.ToldInChinese;
import io.tokenstair.narrative.Language;
import io.tokenstair.narrative.Translation;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every sentence that is said of a token, and in a finding, of a recorded run is of the one set of templates, and cites an event. */
class CaptureNarrativeTest {
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
                String chinese = Translation.sentence(Language.ZH, sentence);
                assertThat(chinese).as(sentence).isNotEqualTo(sentence).containsPattern("\\p{IsHan}");
                assertThat(sentence).endsWith("]");
                assertThat(chinese).endsWith(sentence.substring(sentence.lastIndexOf(" [")));
            }
            ToldInChinese.token(token);
        }
        assertThat(analysis.findings).allSatisfy(ToldInChinese::finding);
    }
}
