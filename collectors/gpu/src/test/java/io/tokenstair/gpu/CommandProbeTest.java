package io.tokenstair.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CommandProbeTest {

    @Test
    void aProgramThatIsNotThereIsNotFound() {
        assertThat(CommandProbe.of(List.of("no-such-program-of-tokenstair")).run())
                .isInstanceOf(CommandProbe.NotFound.class);
    }

    @Test
    void aProgramThatDoesNotEndIsEnded() {
        assertThat(CommandProbe.of(List.of("sleep", "600"))
                        .withTimeout(Duration.ofMillis(200))
                        .run())
                .isInstanceOf(CommandProbe.TimedOut.class);
    }

    @Test
    void bothOutputsAndTheExitCodeAreTold() {
        CommandProbe.Outcome outcome = CommandProbe.of(List.of("sh", "-c", "echo out; echo $WORD >&2; exit 7"))
                .withEnvironment(Map.of("WORD", "err"))
                .run();

        assertThat(outcome).isEqualTo(new CommandProbe.Ended(7, "out\nerr\n"));
    }

    @Test
    void ofALongOutputTheHeadIsKept() {
        CommandProbe.Outcome outcome = CommandProbe.of(List.of("sh", "-c", "head -c 1000000 /dev/zero"))
                .run();

        assertThat(outcome)
                .isInstanceOfSatisfying(
                        CommandProbe.Ended.class,
                        ended -> assertThat(ended.output()).hasSize(64 * 1024));
    }
}
