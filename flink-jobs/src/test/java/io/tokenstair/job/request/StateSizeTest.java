package io.tokenstair.job.request;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.job.staircase.StaircaseState;
import io.tokenstair.job.step.EngineScript;
import io.tokenstair.job.step.Told;
import java.io.IOException;
import java.util.ArrayList;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.api.Test;

/** What an open request takes in a checkpoint, without its tokens: docs/requests.md says what bounds it. */
class StateSizeTest {
    private static final long MILLIS = 1_000_000;

    /** What is held today; the aim is 1,024. */
    private static final int LIMIT_BYTES = 2_048;

    private static <T> TypeSerializer<T> serializer(Class<T> type) {
        return TypeInformation.of(type).createSerializer(new SerializerConfigImpl());
    }

    private static <T> int bytes(Class<T> type, T value) {
        DataOutputSerializer out = new DataOutputSerializer(4_096);
        try {
            serializer(type).serialize(value, out);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        return out.length();
    }

    /** The state of a request of which so many tokens have been made and delivered, and which goes on. */
    private static RequestState open(int tokens, boolean gateway) {
        EngineScript engine =
                new EngineScript().clockSampled(500).start(64, "x").decode(tokens - 1, "x");
        Told told = engine.told();
        RequestScript script =
                new RequestScript("x").sent(900 * MILLIS).engine(told).delivered(told, 0, "x", 2 * MILLIS);
        if (gateway) {
            RequestScript seen = new RequestScript("x", "gateway").sent(901 * MILLIS);
            told.tokens("x")
                    .forEach(token -> seen.through(
                            token.index(),
                            token.endNanos() + MILLIS,
                            token.endNanos() + MILLIS + 20_000,
                            token.endNanos() + MILLIS + 30_000));
            script.with(seen);
        }
        RequestState state = new RequestState();
        RequestLife life = new RequestLife("x", state, new Lived());
        script.inputs().forEach(life::accept);
        return state;
    }

    private static RequestState withoutTokens(RequestState state) {
        for (LifetimeState lifetime : state.open) {
            for (SequenceLife sequence : lifetime.sequences) {
                sequence.undelivered = new ArrayList<>();
                sequence.arriving = new ArrayList<>();
                sequence.clientChunks = new ChunkQueue();
                sequence.gatewayChunks = new ChunkQueue();
                sequence.first = null;
            }
        }
        return state;
    }

    @Test
    void anOpenRequestTakesLessThanTwoKilobytesBesideItsTokens() {
        for (boolean gateway : new boolean[] {false, true}) {
            RequestState state = withoutTokens(open(500, gateway));
            SequenceLife sequence = state.open.get(0).sequences.get(0);

            assertThat(bytes(RequestState.class, state))
                    .as(
                            "with a gateway: %s; sequence %d, of it staircase %d, deliveries %d, meters %d",
                            gateway,
                            bytes(SequenceLife.class, sequence),
                            bytes(StaircaseState.class, sequence.staircase),
                            bytes(UsualDelivery.class, sequence.usualDelivery),
                            2 * bytes(BurstMeter.class, sequence.delivery))
                    .isLessThan(LIMIT_BYTES);
        }
    }

    @Test
    void moreTokensDoNotMakeItLarger() {
        int after500 = bytes(RequestState.class, withoutTokens(open(500, true)));
        int after4000 = bytes(RequestState.class, withoutTokens(open(4_000, true)));

        assertThat(after4000).isLessThan(after500 + 64);
    }

    /** Every request has its own state and shares nothing, so ten thousand say what a hundred thousand take. */
    @Test
    void aHundredThousandOpenRequestsTakeTwoHundredMegabytesAndTheTokensThatWait() {
        RequestState state = open(40, true);
        TypeSerializer<RequestState> serializer = serializer(RequestState.class);
        RequestState[] open = new RequestState[10_000];
        long total = 0;
        for (int i = 0; i < open.length; i++) {
            open[i] = serializer.copy(state);
            total += bytes(RequestState.class, open[i]);
        }
        long waiting = bytes(RequestState.class, state) - bytes(RequestState.class, withoutTokens(state));

        assertThat(waiting).isLessThan(2L * LIMIT_BYTES);
        assertThat(10 * total).isLessThan(100_000L * (LIMIT_BYTES + waiting));
    }
}
