package io.tokenstair.job.request;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.archive.result.TokenAnalysis;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What is usual in a stream of which no engine says when it made a token, and what is slow against it. */
class StreamGapsTest {
    private static final long MICROS = 1_000;
    private static final long MILLIS = 1_000 * MICROS;
    private static final long SENT = 900 * MILLIS;

    /** Gaps of some 10 ms, the same for each run. */
    private static List<Long> steady(int gaps) {
        Random random = new Random(4);
        List<Long> nanos = new ArrayList<>();
        for (int i = 0; i < gaps; i++) {
            nanos.add(9 * MILLIS + random.nextInt(2_000) * MICROS);
        }
        return nanos;
    }

    private static Lived stream(List<Long> gapNanos) {
        long now = SENT + 50 * MILLIS;
        RequestScript script = new RequestScript("x").sent(SENT).chunk(now, 0, 0, 1);
        int token = 1;
        for (long gap : gapNanos) {
            now += gap;
            script.chunk(now, 0, token++, 1);
        }
        return script.ended(now + MILLIS, "complete").lived();
    }

    private static List<Integer> slow(Lived lived) {
        return lived.tokens.stream()
                .filter(token -> token.cause() != null)
                .map(TokenAnalysis::tokenIndex)
                .toList();
    }

    @Test
    void aStallIsSlowAgainstItsOwnStream() {
        List<Long> gaps = steady(60);
        gaps.set(29, 300 * MILLIS);

        Lived lived = stream(gaps);

        assertThat(slow(lived)).containsExactly(30);
        assertThat(lived.token(30).cause()).isEqualTo("UNRESOLVED_STALL");
        assertThat(lived.token(30).referenceNanos()).isBetween(9 * MILLIS, 11 * MILLIS);
    }

    @Test
    void chunksThatWereReadTogetherAfterAStallAreNoMeasureOfWhatIsUsual() {
        List<Long> gaps = steady(60);
        gaps.set(19, 400 * MILLIS);
        for (int i = 20; i < 55; i++) {
            gaps.set(i, 20 * MICROS);
        }

        Lived lived = stream(gaps);

        assertThat(slow(lived)).containsExactly(20);
        assertThat(lived.token(20).referenceNanos()).isBetween(9 * MILLIS, 11 * MILLIS);
    }

    @Test
    void draftsThatCameWithTheTokenOfTheirStepAreNoMeasureOfWhatIsUsual() {
        List<Long> gaps = new ArrayList<>();
        for (long step : steady(60)) {
            gaps.add(step);
            gaps.add(80 * MICROS);
            gaps.add(60 * MICROS);
        }

        assertThat(slow(stream(gaps))).isEmpty();

        gaps.set(90, 300 * MILLIS);
        assertThat(slow(stream(gaps))).containsExactly(91);
    }

    @Test
    void stallsOfATwentiethOfAllTokensDoNotBecomeUsual() {
        List<Long> gaps = steady(400);
        List<Integer> stalled = new ArrayList<>();
        for (int i = 10; i < 400; i += 20) {
            gaps.set(i, 1_000 * MILLIS);
            stalled.add(i + 1);
        }

        Lived lived = stream(gaps);

        assertThat(slow(lived)).isEqualTo(stalled);
        assertThat(lived.token(11).referenceNanos()).isBetween(9 * MILLIS, 11 * MILLIS);
    }

    @Test
    void tokensOfAFastEngineAreGapsOfTheirOwn() {
        List<Long> gaps = new ArrayList<>(steady(200));
        gaps.replaceAll(gap -> gap / 100);
        gaps.set(99, 5 * MILLIS);

        Lived lived = stream(gaps);

        assertThat(slow(lived)).containsExactly(100);
        assertThat(lived.token(100).referenceNanos()).isBetween(90 * MICROS, 110 * MICROS);
    }

    @Test
    void ofAStreamTooShortForAMeasureNothingIsCalledSlow() {
        List<Long> gaps = steady(15);
        gaps.set(9, 300 * MILLIS);

        Lived lived = stream(gaps);

        assertThat(slow(lived)).isEmpty();
        assertThat(lived.token(10).referenceNanos()).isNull();
    }
}
