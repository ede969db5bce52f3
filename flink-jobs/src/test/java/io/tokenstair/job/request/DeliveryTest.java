package io.tokenstair.job.request;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.cause.Cause;
import io.tokenstair.event.Finish;
import io.tokenstair.job.step.EngineScript;
import io.tokenstair.job.step.Told;
import java.util.List;
import java.util.Objects;
import java.util.TreeSet;
import java.util.function.LongUnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Where a token waited between the end of its step and its client. */
class DeliveryTest {
    private static final long MICROS = 1_000;
    private static final long MILLIS = 1_000_000;
    private static final long SENT = 900 * MILLIS;
    private static final int TOKENS = 200;

    private final EngineScript engine = even(TOKENS);
    private final Told told = engine.told();
    private final long[] made =
            told.tokens("x").stream().mapToLong(Told.Token::endNanos).toArray();

    private static EngineScript even(int tokens) {
        return new EngineScript()
                .clockSampled(500)
                .start(64, "x")
                .decode(tokens - 1, "x")
                .finish("x", "length");
    }

    /** What each token's chunk met on its way; every one of the four is when the token got so far. */
    private final class Way {
        private final long[] arrived =
                LongStream.of(made).map(end -> end + MILLIS).toArray();
        private final long[] start = new long[TOKENS];
        private final long[] end = new long[TOKENS];
        private final long[] client = new long[TOKENS];
        private long writeNanos = 2 * MICROS;
        private long networkNanos = 2 * MILLIS;

        /** Nothing overtakes; what is not held goes on at once. */
        Way flow() {
            for (int i = 0; i < TOKENS; i++) {
                arrived[i] = Math.max(arrived[i], i == 0 ? 0 : arrived[i - 1] + 1);
                start[i] = Math.max(Math.max(start[i], arrived[i] + 300 * MICROS), i == 0 ? 0 : end[i - 1]);
                end[i] = Math.max(end[i], start[i] + writeNanos);
                client[i] = Math.max(
                        Math.max(client[i], end[i] + networkNanos + i % 7 * 10 * MICROS),
                        i == 0 ? 0 : client[i - 1] + 1);
            }
            return this;
        }

        RequestScript gateway() {
            RequestScript script = new RequestScript("x", "gateway").sent(SENT + MILLIS);
            for (int i = 0; i < TOKENS; i++) {
                script.through(i, arrived[i], start[i], end[i]);
            }
            return script.ended(end[TOKENS - 1] + MILLIS, "complete");
        }

        RequestScript client() {
            return client(EngineScript.CLOCK);
        }

        RequestScript client(String clockId) {
            RequestScript script = new RequestScript("x").clock(clockId).sent(SENT);
            for (int i = 0; i < TOKENS; i++) {
                script.chunk(client[i], 0, i, 1);
            }
            return script.ended(client[TOKENS - 1] + MILLIS, "complete");
        }

        Lived lived() {
            return client().with(gateway()).engine(told).lived();
        }
    }

    private static TreeSet<String> deliveryCauses(Lived lived) {
        return lived.tokens.stream()
                .map(TokenAnalysis::deliveryCause)
                .filter(Objects::nonNull)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static List<Integer> late(Lived lived) {
        return lived.tokens.stream()
                .filter(token -> token.deliveryCause() != null)
                .map(TokenAnalysis::tokenIndex)
                .toList();
    }

    private static void partsSum(Lived lived) {
        assertThat(lived.tokens).hasSize(TOKENS).allSatisfy(token -> {
            long sum = LongStream.of(
                            zero(token.deliveryOutputNanos()),
                            zero(token.deliveryGatewayNanos()),
                            zero(token.deliveryNetworkNanos()),
                            zero(token.deliveryClientNanos()),
                            zero(token.deliveryUnexplainedNanos()))
                    .sum();
            assertThat(sum).isEqualTo(token.deliveryNanos());
        });
    }

    private static long zero(Long nanos) {
        return nanos == null ? 0 : nanos;
    }

    // ---- parts

    @Test
    void aDeliveryIsCutAtTheStampsThereAre() {
        Lived lived = new Way().flow().lived();
        TokenAnalysis token = lived.token(7);

        assertThat(token.deliveryOutputNanos()).isEqualTo(MILLIS);
        assertThat(token.deliveryGatewayNanos()).isEqualTo(300 * MICROS);
        assertThat(token.deliveryClientNanos()).isEqualTo(2 * MICROS);
        assertThat(token.deliveryNetworkNanos()).isEqualTo(2 * MILLIS);
        assertThat(token.deliveryUnexplainedNanos()).isNull();
        assertThat(token.deliveryNanos()).isEqualTo(3_302 * MICROS);
        assertThat(token.deliveredBoundNanos()).isZero();
        assertThat(lived.findings).isEmpty();
        assertThat(deliveryCauses(lived)).isEmpty();
        partsSum(lived);
    }

    @Test
    void deliveredGapsAreGapsAndTheChangeOfDelivery() {
        Way way = new Way();
        way.client[90] = made[90] + 400 * MILLIS;
        way.flow();
        Lived lived = way.lived();

        for (int i = 1; i < TOKENS; i++) {
            TokenAnalysis token = lived.token(i);
            assertThat(token.gapNanos()
                            + token.deliveryNanos()
                            - lived.token(i - 1).deliveryNanos())
                    .isEqualTo(way.client[i] - way.client[i - 1]);
        }
    }

    @Test
    void aGatewayAloneDeliversWhenItsWriteEnds() {
        Way way = new Way().flow();
        Lived lived = way.gateway().engine(told).lived();
        TokenAnalysis token = lived.token(9);

        assertThat(token.deliveryNanos()).isEqualTo(way.end[9] - made[9]);
        assertThat(token.deliveryOutputNanos()).isEqualTo(MILLIS);
        assertThat(token.deliveryNetworkNanos()).isNull();
        assertThat(lived.request().ttftNanos()).isEqualTo(way.arrived[0] - SENT - MILLIS);
        partsSum(lived);
    }

    @Test
    void aGatewayThatDoesNotStampItsWritesLeavesTheRestUnexplained() {
        Way way = new Way().flow();
        RequestScript gateway = new RequestScript("x", "gateway");
        for (int i = 0; i < TOKENS; i++) {
            gateway.through(i, way.arrived[i], null, null);
        }
        Lived lived = way.client()
                .with(gateway.ended(way.end[TOKENS - 1] + MILLIS, "complete"))
                .engine(told)
                .lived();

        assertThat(lived.token(9).deliveryOutputNanos()).isEqualTo(MILLIS);
        assertThat(lived.token(9).deliveryGatewayNanos()).isNull();
        assertThat(lived.token(9).deliveryUnexplainedNanos()).isEqualTo(way.client[9] - way.arrived[9]);
        partsSum(lived);
    }

    @Test
    void aClientThatReportsNoChunkLeavesTheDeliveryToTheGateway() {
        Way way = new Way().flow();
        Lived lived = new RequestScript("x")
                .sent(SENT)
                .ended(way.client[TOKENS - 1], "complete")
                .with(way.gateway())
                .engine(told)
                .lived();

        assertThat(lived.token(9).deliveryNanos()).isEqualTo(way.end[9] - made[9]);
        assertThat(lived.request().ttftNanos()).isEqualTo(way.arrived[0] - SENT - MILLIS);
    }

    // ---- causes

    @Test
    void outputThatLeavesTheEngineLate() {
        Way way = new Way();
        way.arrived[100] = made[100] + 250 * MILLIS;
        Lived lived = way.flow().lived();

        assertThat(deliveryCauses(lived)).containsExactly("OUTPUT_STALL");
        assertThat(late(lived)).startsWith(100, 101, 102).hasSizeBetween(40, 60);
        assertThat(lived.tokens).extracting(TokenAnalysis::cause).containsOnlyNulls();
        TokenAnalysis token = lived.token(100);
        assertThat(token.deliveryOutputNanos()).isEqualTo(250 * MILLIS);
        assertThat(token.chain()).singleElement().asString().startsWith("Token 100 reached the client 252");
        List<Finding> findings = lived.findings("OUTPUT_STALL");
        assertThat(findings).hasSize(1);
        assertThat(findings.get(0).rule()).isEqualTo("late-delivery");
        assertThat(findings.get(0).confidence()).isEqualTo("established");
        assertThat(findings.get(0).severity()).isIn("warning", "critical");
        assertThat(findings.get(0).evidence()).isNotEmpty();
        partsSum(lived);
    }

    @Test
    void chunksThatAGatewayHeldOnce() {
        Way way = new Way();
        way.start[100] = made[100] + 250 * MILLIS;
        Lived lived = way.flow().lived();

        assertThat(deliveryCauses(lived)).containsExactly("GATEWAY_BUFFERING");
        assertThat(lived.token(100).deliveryGatewayNanos()).isEqualTo(249 * MILLIS);
        assertThat(lived.request().requestCauses()).isEmpty();
        assertThat(lived.findings("GATEWAY_BUFFERING"))
                .extracting(Finding::rule)
                .containsExactly("late-delivery");
        partsSum(lived);
    }

    @Test
    void aClientThatDoesNotRead() {
        Way way = new Way();
        way.end[100] = made[100] + 250 * MILLIS;
        Lived lived = way.flow().lived();

        assertThat(lived.token(100).deliveryCause()).isEqualTo("CLIENT_SLOW");
        assertThat(lived.token(100).deliveryClientNanos()).isGreaterThan(240 * MILLIS);
        // What queued behind the write that did not end waited for the client as well.
        assertThat(deliveryCauses(lived)).containsExactly("CLIENT_SLOW");
        assertThat(late(lived)).contains(101, 102, 110);
        assertThat(lived.findings("CLIENT_SLOW")).hasSize(1);
        partsSum(lived);
    }

    @Test
    void aChunkOnItsWayBetweenTwoHosts() {
        Way way = new Way();
        way.client[100] = made[100] + 250 * MILLIS;
        Lived lived = way.flow().lived();

        assertThat(deliveryCauses(lived)).containsExactly("NETWORK");
        assertThat(lived.token(100).deliveryNetworkNanos()).isGreaterThan(240 * MILLIS);
        assertThat(lived.findings("NETWORK")).hasSize(1);
        partsSum(lived);
    }

    @Test
    void withoutAPathBetweenTheClocksNoNetworkIsNamed() {
        Way way = new Way();
        way.client[100] = made[100] + 250 * MILLIS;
        way.flow();
        Lived lived = way.client("host-c/mono").with(way.gateway()).engine(told).lived();

        assertThat(lived.tokens).extracting(TokenAnalysis::deliveryNanos).containsOnlyNulls();
        assertThat(deliveryCauses(lived)).containsExactly("UNRESOLVED_STALL");
        assertThat(lived.request().invalidStamps()).isNull();
    }

    @Test
    void whatOneClockShowsNeedsNoPath() {
        Way way = new Way();
        way.start[100] = made[100] + 250 * MILLIS;
        way.flow();
        Lived lived = way.client("host-c/mono").with(way.gateway()).engine(told).lived();

        assertThat(deliveryCauses(lived)).containsExactly("GATEWAY_BUFFERING");
    }

    @Test
    void aClientAloneSaysOnlyThatItCameLate() {
        Way way = new Way();
        way.client[100] = made[100] + 250 * MILLIS;
        way.flow();
        Lived here = way.client().engine(told).lived();
        Lived elsewhere = way.client("host-c/mono").engine(told).lived();

        assertThat(deliveryCauses(here)).containsExactly("OUTPUT_STALL");
        assertThat(here.findings("OUTPUT_STALL"))
                .extracting(Finding::confidence)
                .containsExactly("consistent-with");
        assertThat(here.token(50).deliveryUnexplainedNanos())
                .isEqualTo(here.token(50).deliveryNanos());
        assertThat(deliveryCauses(elsewhere)).containsExactly("UNRESOLVED_STALL");
        partsSum(here);
    }

    /** It takes what has come every so often: chunks come in groups, and no gateway held them. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aClientThatReadsNowAndThenIsNoGatewayThatBuffers(boolean writesWaitForEachOther) {
        Way way = new Way();
        for (int i = 40; i < TOKENS; i++) {
            int last = Math.min(TOKENS - 1, i / 20 * 20 + 19);
            if (writesWaitForEachOther && i % 20 == 0) {
                way.end[i] = made[last] + 5 * MILLIS;
            }
        }
        way.flow();
        if (!writesWaitForEachOther) {
            for (int i = 40; i < TOKENS; i++) {
                way.end[i] = Math.max(way.end[i], made[Math.min(TOKENS - 1, i / 20 * 20 + 19)] + 5 * MILLIS + i);
                way.client[i] = way.end[i] + 2 * MILLIS;
            }
        }
        Lived lived = way.lived();

        assertThat(deliveryCauses(lived)).containsExactly("CLIENT_SLOW");
        assertThat(late(lived)).hasSizeGreaterThan(100);
        assertThat(lived.request().requestCauses()).isEmpty();
        assertThat(lived.milestones).noneMatch(milestone -> milestone.cause() == Cause.GATEWAY_BUFFERING);
        partsSum(lived);
    }

    // ---- groups

    /** Groups of 64, the first of them from the first token on, wherever they are seen. */
    @ParameterizedTest
    @ValueSource(strings = {"gateway", "client"})
    void anEvenCadenceThatComesInGroupsWasBuffered(String seenBy) {
        Way way = new Way();
        for (int i = 0; i < TOKENS; i++) {
            long whole = made[Math.min(TOKENS - 1, i / 64 * 64 + 63)] + i * MICROS;
            if (seenBy.equals("gateway")) {
                way.arrived[i] = whole;
            } else {
                way.client[i] = whole + 3 * MILLIS;
            }
        }
        way.flow();
        Lived lived = seenBy.equals("gateway")
                ? way.lived()
                : way.client().engine(told).lived();

        assertThat(lived.request().requestCauses()).containsExactly("GATEWAY_BUFFERING");
        assertThat(deliveryCauses(lived)).containsExactly("GATEWAY_BUFFERING");
        assertThat(late(lived)).contains(0, 10, 70, 130).doesNotContain(63, 127);
        assertThat(lived.tokens).extracting(TokenAnalysis::cause).containsOnlyNulls();
        assertThat(lived.token(0).deliveryGatewayNanos()).isGreaterThan((made[63] - made[0]) * 9 / 10);
        List<Finding> findings = lived.findings("GATEWAY_BUFFERING");
        assertThat(findings).extracting(Finding::rule).containsExactly("gateway-buffering");
        assertThat(findings.get(0).narrative()).contains("the engine made them one by one");
        partsSum(lived);
    }

    @Test
    void clocksThatWereNeverAlignedShowGroupsAllTheSame() {
        Way way = new Way();
        for (int i = 0; i < TOKENS; i++) {
            way.client[i] = made[Math.min(TOKENS - 1, i / 64 * 64 + 63)] + i * MICROS + 150 * MILLIS;
        }
        way.flow();
        Lived lived = way.client("host-c/mono").engine(told).lived();

        assertThat(lived.request().requestCauses()).containsExactly("GATEWAY_BUFFERING");
        assertThat(deliveryCauses(lived)).containsExactly("GATEWAY_BUFFERING");
        assertThat(lived.tokens).extracting(TokenAnalysis::deliveryNanos).containsOnlyNulls();
    }

    @Test
    void aGatewayThatWritesInGroupsIsFoundWithoutAnEngine() {
        Way way = new Way();
        for (int i = 0; i < TOKENS; i++) {
            way.start[i] = made[Math.min(TOKENS - 1, i / 16 * 16 + 15)] + 2 * MILLIS;
        }
        Lived lived = way.flow().gateway().lived();

        assertThat(lived.request().requestCauses()).containsExactly("GATEWAY_BUFFERING");
        assertThat(lived.findings("GATEWAY_BUFFERING").get(0).narrative())
                .contains("they reached the gateway one by one");
    }

    @Test
    void aStreamThatComesAtTheEndInOneGroupWasBuffered() {
        Way way = new Way();
        for (int i = 0; i < TOKENS; i++) {
            way.client[i] = made[TOKENS - 1] + MILLIS + i * 100 * MICROS;
        }
        Lived lived = way.flow().client().engine(told).lived();

        assertThat(lived.request().requestCauses()).containsExactly("GATEWAY_BUFFERING");
        assertThat(deliveryCauses(lived)).containsExactly("GATEWAY_BUFFERING");
    }

    @Test
    void jitterAndOneStallAreNoHabitOfGroups() {
        Way way = new Way();
        for (int i = 0; i < TOKENS; i++) {
            way.client[i] = made[i] + 3 * MILLIS + i * 7919L % 4_000 * MICROS;
        }
        way.arrived[60] = made[60] + 100 * MILLIS;
        Lived lived = way.flow().lived();

        assertThat(lived.request().requestCauses()).isEmpty();
        assertThat(deliveryCauses(lived)).doesNotContain("GATEWAY_BUFFERING");
    }

    // ---- what is no stall

    /** An engine that schedules ahead publishes a token one step after it was made, from some token on or by turns. */
    @ParameterizedTest
    @ValueSource(ints = {1, 30, 100})
    void publicationOneStepAfterTheTokenWasMadeIsNoStall(int from) {
        Way way = new Way();
        for (int i = from; i < TOKENS - 1; i++) {
            way.arrived[i] = made[i + 1] + MILLIS;
        }
        Lived lived = way.flow().lived();

        assertThat(deliveryCauses(lived)).isEmpty();
        assertThat(lived.findings).isEmpty();
    }

    @Test
    void severalTokensInOneChunkAreJudgedByTheLast() {
        RequestScript script = new RequestScript("x").sent(SENT);
        for (int i = 0; i < TOKENS; i += 4) {
            script.chunk(made[i + 3] + 2 * MILLIS, 0, i, 4, i + 4 == TOKENS ? Finish.LENGTH : Finish.NONE);
        }
        Lived lived = script.ended(made[TOKENS - 1] + 5 * MILLIS, "complete")
                .engine(told)
                .lived();

        assertThat(lived.tokens).hasSize(TOKENS);
        assertThat(deliveryCauses(lived)).isEmpty();
        assertThat(lived.request().requestCauses()).containsExactly("MULTI_TOKEN_CHUNK");
    }

    // ---- what cannot be

    @Test
    void anArrivalBeforeTheTokenWasMadeIsCountedAndLeftOut() {
        Way way = new Way().flow();
        RequestScript client = new RequestScript("x").sent(SENT);
        LongUnaryOperator arrival = i -> i == 20 ? made[20] - 3 * MILLIS : way.client[(int) i];
        for (int i = 0; i < TOKENS; i++) {
            client.chunk(arrival.applyAsLong(i), 0, i, 1);
        }
        Lived lived = client.ended(way.client[TOKENS - 1] + MILLIS, "complete")
                .engine(told)
                .lived();

        assertThat(lived.token(20).deliveryNanos()).isNull();
        assertThat(lived.token(20).deliveryUnexplainedNanos()).isNull();
        assertThat(lived.token(20).gapNanos()).isPositive();
        assertThat(lived.token(21).deliveryNanos()).isPositive();
        assertThat(lived.request().invalidStamps()).isEqualTo(1);
    }

    @Test
    void chunksThatComeTwiceOrOutOfOrderOrNotAtAll() {
        Way way = new Way().flow();
        RequestScript client = new RequestScript("x").sent(SENT);
        for (int i = 0; i < TOKENS; i++) {
            if (i == 30) {
                client.chunk(way.client[31], 0, 31, 1).chunk(way.client[31] + 1, 0, 30, 1);
                i++;
            } else if (i != 50) {
                client.chunk(way.client[i], 0, i, 1);
            }
            if (i == 40) {
                client.chunk(way.client[i] + 1, 0, i, 1);
            }
        }
        Lived lived = client.ended(way.client[TOKENS - 1] + MILLIS, "complete")
                .engine(told)
                .lived();

        assertThat(lived.tokens).hasSize(TOKENS);
        assertThat(lived.token(50).deliveryNanos()).isNull();
        assertThat(lived.token(40).deliveryNanos()).isEqualTo(way.client[40] - made[40]);
        assertThat(lived.token(31).deliveryNanos()).isEqualTo(way.client[31] - made[31]);
        assertThat(lived.request().droppedChunks()).isBetween(1, 2);
    }
}
