package io.tokenstair.rule.bound;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** A condition falls into the parts that must all hold. */
class ConditionPartsTest {
    @Test
    void cutsAtTheOutermostAnds() {
        assertThat(parts("a == 1 && (b || c)&&d[0] == 2")).containsExactly("a == 1", "b || c", "d[0] == 2");
        assertThat(parts("((a && b) && c)")).containsExactly("a", "b", "c");
        assertThat(parts("(a) && (b)")).containsExactly("a", "b");
        assertThat(parts("!(a && b)")).containsExactly("!(a && b)");
    }

    @Test
    void leavesWholeWhatBindsWeaker() {
        assertThat(parts("a && b || c")).containsExactly("a && b || c");
        assertThat(parts("a && b ? c : d")).containsExactly("a && b ? c : d");
        assertThat(parts("a && b // and && more")).containsExactly("a && b // and && more");
    }

    @Test
    void readsPastTexts() {
        assertThat(parts("a == ' && ' && b == \"\\\" && (\" && c"))
                .containsExactly("a == ' && '", "b == \"\\\" && (\"", "c");
        assertThat(parts("a.matches(r'\\d') && b")).containsExactly("a.matches(r'\\d')", "b");
    }

    private static List<String> parts(String written) {
        return ConditionParts.split(written);
    }
}
