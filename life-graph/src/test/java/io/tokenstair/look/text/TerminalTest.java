package io.tokenstair.look.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TerminalTest {
    private final StringWriter out = new StringWriter();
    private final Terminal plain = new Terminal(out, false, true, 100);

    @Test
    void whatCouldSteerATerminalIsSpelledOut() {
        assertThat(Terminal.safe("a\u001b[2Jb\u0007\n\u009b\u202e\u200b\ufeff\ud800\u007f"))
                .isEqualTo("a\\u001b[2Jb\\u0007\\u000a\\u009b\\u202e\\u200b\\ufeff\\ud800\\u007f");
        assertThat(Terminal.safe("ä 漢 \uD83D\uDE00 <b>")).isEqualTo("ä 漢 \uD83D\uDE00 <b>");
    }

    @Test
    void aLongIdKeepsItsTwoEnds() {
        assertThat(plain.fit("abcdefghij", 7)).isEqualTo("abc…hij");
        assertThat(plain.fit("abcdefghij", 10)).isEqualTo("abcdefghij");
        assertThat(plain.cut("abcdefghij", 7)).isEqualTo("abcdef…");
    }

    @Test
    void aStyleIsLeftOutWithoutColour() {
        Terminal coloured = new Terminal(out, true, true, 100);

        assertThat(plain.styled(Terminal.Style.RED, "x")).isEqualTo("x");
        assertThat(coloured.styled(Terminal.Style.RED, "x")).isEqualTo("\u001b[31mx\u001b[0m");
    }

    @Test
    void linesEndWithoutSpacesAndBreakAtWords() throws IOException {
        plain.line("a  ");

        assertThat(out.toString()).isEqualTo("a\n");
        assertThat(Terminal.wrapped("one two  three four", 9)).containsExactly("one two", "three", "four");
    }

    @Test
    void wideCharactersTakeTwoColumns() {
        assertThat(Terminal.width("ab間隔，e\u0301\uD83D\uDE00█")).isEqualTo(12);
        assertThat(Terminal.left("间隔", 6) + "|").isEqualTo("间隔  |");
        assertThat(Terminal.right("间隔", 6)).isEqualTo("  间隔");
        assertThat(plain.fit("一二三四五六", 7)).isEqualTo("一…六");
        assertThat(plain.cut("一二三四", 6)).isEqualTo("一二…");
        assertThat(Terminal.wrapped("该步运行了 12 个序列，通常为 4 个：很长的一句话。", 16))
                .allSatisfy(line -> assertThat(Terminal.width(line)).isLessThanOrEqualTo(16));
    }

    @Test
    void theWidthIsHeldToWhatCanBeRead() {
        assertThat(new Terminal(out, false, true, 3).columns()).isEqualTo(60);
        assertThat(new Terminal(out, false, true, 3000).columns()).isEqualTo(200);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "12345        | 0.012 ms",
                "1234567      | 1.23 ms",
                "21400000     | 21.4 ms",
                "2134200000   | 2,134 ms",
                "-8665755     | -8.67 ms",
                "0            | 0.000 ms",
                "9223372036854775807 | 9,223,372,036,855 ms"
            })
    void millisecondsHaveSensibleDigits(long nanos, String text) {
        assertThat(Quantity.milliseconds(nanos)).isEqualTo(text);
    }

    @Test
    void stampsAreUtcAndMayBeAbsent() {
        assertThat(Quantity.stamp(1_795_946_400_123_999_999L)).isEqualTo("2026-11-29 10:00:00.123Z");
        assertThat(Quantity.stamp(-1L)).isEqualTo("1969-12-31 23:59:59.999Z");
        assertThat(Quantity.stamp(null)).isEqualTo("undated");
    }

    @Test
    void aSparklineShowsTheWorstOfEachColumn() {
        Sparkline gaps = new Sparkline(4);
        for (int token = 0; token < 8; token++) {
            gaps.add(token == 5 ? 1_000_000_000L : token == 0 || token == 1 ? -1 : 10_000_000L);
        }

        assertThat(gaps.tokensPerColumn()).isEqualTo(2);
        assertThat(gaps.draw(plain)).isEqualTo(" ▁█▁");
    }

    @Test
    void gapsThatHardlyDifferAreOneLevel() {
        Sparkline gaps = new Sparkline(10);
        for (long gap : new long[] {20_000_000, 20_400_000, 20_100_000, 20_900_000}) {
            gaps.add(gap);
        }

        assertThat(gaps.draw(plain)).isEqualTo("▁▁▁▁");
    }
}
