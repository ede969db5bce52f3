package io.tokenstair.job.step;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.cause.Cause;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class CauseChoiceTest {

    @Test
    void largestPartWins() {
        CauseChoice choice = new CauseChoice();
        choice.offer(Cause.PREEMPTION, 10);
        choice.offer(Cause.BATCH_GROWTH, 30);
        choice.offer(Cause.UNRESOLVED_STALL, 20);

        assertThat(choice.best()).isEqualTo(Cause.BATCH_GROWTH);
    }

    @Test
    void equalPartsGoToTheOneHigherInTheTableWhateverTheOrderOfOffers() {
        List<Cause> offers =
                new ArrayList<>(List.of(Cause.UNRESOLVED_STALL, Cause.SEAT_LIMIT, Cause.RECOMPUTE, Cause.HOST_GAP));
        for (int seed = 0; seed < 20; seed++) {
            Collections.shuffle(offers, new Random(seed));
            CauseChoice choice = new CauseChoice();
            offers.forEach(cause -> choice.offer(cause, 5));

            assertThat(choice.best()).isEqualTo(Cause.RECOMPUTE);
        }
    }

    @Test
    void aPartThatIsNotThereOwnsNothing() {
        CauseChoice choice = new CauseChoice();
        choice.offer(Cause.PREEMPTION, 0);
        choice.offer(Cause.BATCH_GROWTH, -40);
        choice.offer(Cause.UNRESOLVED_STALL, -50);

        assertThat(choice.best()).isEqualTo(Cause.UNRESOLVED_STALL);
    }

    @Test
    void withoutAnOfferNothingIsResolved() {
        assertThat(new CauseChoice().best()).isEqualTo(Cause.UNRESOLVED_STALL);
    }
}
