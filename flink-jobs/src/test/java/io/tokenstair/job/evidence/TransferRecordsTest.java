package io.tokenstair.job.evidence;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.event.KvTransferred;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TransferRecordsTest {
    private static final ClockShift.Ways ONE_CLOCK = (clockId, aroundNanos) -> ClockShift.NONE;

    private final TransferRecords records = new TransferRecords();

    @BeforeEach
    void aLoadFrom100To250() {
        records.accept(
                new KvTransferred("engine", 0, "r", "remote", "load", 100, 250L, null, null, "other-node"),
                "clock",
                250L,
                "c/0/1");
    }

    private long waited(long from, long to) {
        return Objects.requireNonNull(records.during("r", from, to, ONE_CLOCK)).remoteNanos;
    }

    @Test
    void whoMissesAStepByALoadWaitsForTheEndOfThatStep() {
        records.stepped(50, 200, ONE_CLOCK);
        records.stepped(200, 300, ONE_CLOCK);
        records.stepped(300, 400, ONE_CLOCK);

        assertThat(waited(100, 400)).isEqualTo(200);
    }

    @Test
    void whoseLoadEndedBetweenTwoStepsWaitedForNoMore() {
        records.stepped(50, 200, ONE_CLOCK);
        records.stepped(260, 300, ONE_CLOCK);

        assertThat(waited(100, 300)).isEqualTo(150);
        assertThat(records.openCount).isZero();
    }

    @Test
    void isUnderWayFromItsStartToItsEnd() {
        assertThat(records.isUnderWay("r", 99, ONE_CLOCK)).isFalse();
        assertThat(records.isUnderWay("r", 100, ONE_CLOCK)).isTrue();
        assertThat(records.isUnderWay("r", 250, ONE_CLOCK)).isFalse();
        assertThat(records.isUnderWay("another", 150, ONE_CLOCK)).isFalse();
    }
}
