package io.tokenstair.rule.bound;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.tokenstair.rule.RuleException;
import io.tokenstair.rule.syntax.RuleParser;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A pattern that is short and would be long when written out is refused before that. */
class PatternSizeTest {
    private static BoundRule rule(String pattern) {
        return RuleBinder.bind(RuleParser.parse("pattern.yaml", """
                id: pattern
                version: 1
                description: d
                severity: info
                cause: PREEMPTION
                key: request
                stages:
                  - name: a
                    kind: PREEMPTED
                    where: |
                      requestId.matches(r'%s')
                within: 1s
                finding: It happened.
                """.formatted(pattern)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "(((a{1000}){1000}){1000})",
                "((a{1000}){1000}){1000}",
                "(?:(?:a{900}b{900}){900}c){900}",
                "((((((((a{9}){9}){9}){9}){9}){9}){9}){9})",
                "(([ab{}]{1000,}){1000,}){2,1000}",
                "((\\p{L}{1000}){1000}){1000}",
                "((\\x{41}{1000}){1000}){1000}",
                "((\\Qa(\\E{1000}){1000}){1000}",
                "(([]a]{1000}){1000}){1000}",
                "(([^][:alpha:]]{1000}){1000}){1000}",
                "((.*{1000}){1000}){1000}",
                "(a?|b){1000}{1000}{1000}"
            })
    @Timeout(value = 20, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void whatWouldTakeAllMemoryIsRefused(String pattern) {
        assertThatExceptionOfType(RuleException.class)
                .isThrownBy(() -> rule(pattern))
                .withMessageContaining("pattern.yaml:11:");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "r-[0-9]+",
                "^(chat|doc)-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
                "a{1000}",
                "[{}]{3}",
                "x{,3}",
                "\\{4,9\\}",
                "(a+)+$"
            })
    void whatIsShortIsTaken(String pattern) {
        assertThat(rule(pattern).id()).isEqualTo("pattern");
    }
}
