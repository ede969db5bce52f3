package io.tokenstair.job.request;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.job.staircase.StaircaseState;
import io.tokenstair.job.step.EngineScript;
import io.tokenstair.job.step.Told;
import io.tokenstair.job.type.ZeroPackedSerializer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Random;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.api.Test;

/** What an open request takes in a checkpoint, without its tokens: docs/requests.md says what bounds it. */
class StateSizeTest {
    private static final long MILLIS = 1_000_000;

    private static final int LIMIT_BYTES = 1_024;

    /** Steps differ by so much, and no token is slow. */
    private static final long JITTER_NANOS = 300_000;

    /** What a cause of slow tokens adds: the sentences and records of its worst one. */
    private static final int CAUSE_BYTES = 512;

    private static <T> TypeSerializer<T> serializer(Class<T> type) {
        return new ZeroPackedSerializer<>(TypeInformation.of(type).createSerializer(new SerializerConfigImpl()));
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

    /** The state of a request of which so many tokens have been made, each after another time, and delivered, and which goes on. */
    private static RequestState open(int tokens, boolean gateway, long jitterNanos) {
        EngineScript engine = new EngineScript().clockSampled(500).start(64, "x");
        Random random = new Random(tokens);
        for (int i = 1; i < tokens; i++) {
            engine.step().decode("x").late(random.nextLong(jitterNanos)).run();
        }
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
    void anOpenRequestTakesLessThanOneKilobyteBesideItsTokens() {
        for (boolean gateway : new boolean[] {false, true}) {
            RequestState state = withoutTokens(open(500, gateway, JITTER_NANOS));
            SequenceLife sequence = state.open.get(0).sequences.get(0);
            assertThat(sequence.groups).isEmpty();

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
    void aCauseOfSlowTokensAddsHalfAKilobyte() {
        RequestState state = withoutTokens(open(500, true, 3 * MILLIS));

        assertThat(state.open.get(0).sequences.get(0).groups).hasSize(1);
        assertThat(bytes(RequestState.class, state)).isLessThan(LIMIT_BYTES + CAUSE_BYTES);
    }

    /** Every other step computes the prompt of one more request: so many are somebody's culprit. */
    @Test
    void moreCulpritsDoNotMakeItLargerForGood() {
        SequenceLife few = interferedBy(12);
        SequenceLife many = interferedBy(200);

        assertThat(many.groups).hasSameSizeAs(few.groups).hasSizeLessThanOrEqualTo(1 + 2 * SlowGroups.CULPRITS);
        assertThat(many.groups.stream().mapToLong(group -> group.tokens).sum()).isGreaterThan(190);
        assertThat(bytes(SequenceLife.class, many)).isLessThan(bytes(SequenceLife.class, few) + 256);
    }

    private static SequenceLife interferedBy(int requests) {
        EngineScript engine = new EngineScript().start(64, "x").decode(64, "x");
        for (int i = 0; i < requests; i++) {
            String other = "p" + i;
            engine.queue(other, 400).step().decode("x").prefill(other, 400).run();
            engine.finish(other, "length").decode(1, "x");
        }
        RequestScript script = new RequestScript("x").engine(engine.told());
        RequestState state = new RequestState();
        RequestLife life = new RequestLife("x", state, new Lived());
        script.inputs().forEach(life::accept);
        return withoutTokens(state).open.get(0).sequences.get(0);
    }

    @Test
    void moreTokensDoNotMakeItLarger() {
        int after500 = bytes(RequestState.class, withoutTokens(open(500, true, JITTER_NANOS)));
        int after4000 = bytes(RequestState.class, withoutTokens(open(4_000, true, JITTER_NANOS)));

        assertThat(after4000).isLessThan(after500 + 64);
    }

    /** Every request has its own state and shares nothing, so ten thousand say what a hundred thousand take. */
    @Test
    void aHundredThousandOpenRequestsTakeAHundredMegabytesAndTheTokensThatWait() {
        RequestState state = open(40, true, JITTER_NANOS);
        TypeSerializer<RequestState> serializer = serializer(RequestState.class);
        RequestState[] open = new RequestState[10_000];
        long total = 0;
        for (int i = 0; i < open.length; i++) {
            open[i] = serializer.copy(state);
            total += bytes(RequestState.class, open[i]);
        }
        long waiting = bytes(RequestState.class, state) - bytes(RequestState.class, withoutTokens(state));

        assertThat(waiting).isLessThan(4L * LIMIT_BYTES);
        assertThat(10 * total).isLessThan(100_000L * (LIMIT_BYTES + waiting));
    }
}
