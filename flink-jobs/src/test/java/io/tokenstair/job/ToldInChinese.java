package io.tokenstair.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.Remark;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.narrative.Language;
import io.tokenstair.narrative.Translation;

/** Holds that what is said is told in Chinese as well, and that nothing of it is left in English. */
public final class ToldInChinese {
    /** Three English words in a row are no name of a thing. */
    private static final String ENGLISH = "\\b[a-z]+ [a-z]+ [a-z]+\\b";

    private ToldInChinese() {}

    /** Each sentence of a slow token's chain, and why its cause is as sure as it is. */
    public static void token(TokenAnalysis token) {
        token.chain().forEach(ToldInChinese::narrative);
        String why = token.confidenceWhy();
        if (why != null) {
            reason(why);
        }
    }

    /** A finding. */
    public static void finding(Finding finding) {
        narrative(finding.narrative());
        reason(finding.confidenceWhy());
    }

    /** A remark. */
    public static void remark(Remark remark) {
        narrative(remark.narrative());
        reason(remark.confidenceWhy());
    }

    private static void narrative(String narrative) {
        assertThat(narrative).isNotBlank();
        for (String sentence : Translation.sentences(narrative)) {
            chinese(sentence, Translation.sentence(Language.ZH, sentence));
        }
    }

    private static void reason(String why) {
        chinese(why, Translation.reason(Language.ZH, why));
    }

    private static void chinese(String english, String chinese) {
        assertThat(chinese).as(english).containsPattern("\\p{IsHan}").doesNotContainPattern(ENGLISH);
    }
}
