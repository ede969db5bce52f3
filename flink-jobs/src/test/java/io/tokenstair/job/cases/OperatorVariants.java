package io.tokenstair.job.cases;

import static io.tokenstair.job.cases.CaseResults.part;
import static io.tokenstair.job.cases.EventText.MS;
import static io.tokenstair.job.cases.EventText.SECOND;
import static io.tokenstair.job.cases.EventText.about;
import static io.tokenstair.job.cases.EventText.hashes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.cause.Part;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The kinds of the reports in {@link OperatorCases} once more, with other figures, orders, engines, clocks and fewer fields, written as the
 * lines that people write by hand.
 */
final class OperatorVariants {
    private OperatorVariants() {}

    /** These, and those of {@link OperatorStories}. */
    static List<EventText> all() {
        List<EventText> all = new ArrayList<>(variants());
        all.addAll(OperatorStories.all());
        return all;
    }

    private static List<EventText> variants() {
        return List.of(
                twoEnginesOneWithALongPrompt(),
                twoVictimsOfAChunkBurstOnRankOne(),
                theSkippedLaneChanges(),
                emptyFirstChunkAtTheGateway(),
                tokensPublishedOneStepLaterByAGateway(),
                loopThatGainsLittle(),
                fullCacheUntilTheFirstPreemption(),
                retractedRequestsCounted(),
                usageAloneInMetrics(),
                healthyPreemptionAmongMany(),
                lessUrgentOvertakes(),
                prefixMissedWithoutAnEviction(),
                deferredForRemoteKvWithoutAnEnd(),
                blocksFromASlowerTier(),
                piecewiseToEagerForGood(),
                oneSizeNotCaptured(),
                anotherAttentionKernel(),
                compiledOncePerShape(),
                growingPausesWithoutAReason(),
                frozenInItsHostPhase(),
                clockFollowsByItself(),
                gatewayHoldsForItsClient(),
                clientThatDoesNotRead(),
                slowNetworkOnAlignedClocks(),
                firstChunkStampedByAnotherHost(),
                sameIdTwiceOnOneEngine(),
                prefillAndDecodeEngineOnTwoClocks(),
                abortedLongBeforeTheEngineEnds(),
                emptyAnswersBesideFullOnes(),
                changingAcceptance(),
                threeChoicesOfOnePrompt(),
                hungUpAndComputedAgain(),
                cacheEventsLostForGood(),
                hostileIds(),
                outputStallWithoutTheEnginesClock(),
                idleEngineUndated(),
                seatsWereShort(),
                twoRanksOfOneEngine(),
                lateRecords(),
                blocksWereShort(),
                queuedBehindNothing(),
                everyStepComputesSomethingAgain(),
                manyJoinAtOnce(),
                batchSwings(),
                slopeOfReadContext(),
                flatWithContext(),
                stepsThatRiseWithEvictions(),
                oneShiftIsNoStaircase(),
                memoryWasLookedFor(),
                driverError(),
                oneRankCameLate(),
                oneKernelWasSlow(),
                threadsWithoutACore(),
                secondStartWasSlow(),
                tokensOfChunksAlone(),
                longestWithoutTheFirstSteps(),
                firstTokenOverItsLimit(),
                everyOtherStepComputesAPrompt(),
                restartedInMidRequestAndRetried(),
                eagerFromOneStepOnWithAnIdleDevice(),
                leftOutAndNobodyKnowsTheBudget(),
                ceilingCrossedByWhoJoinsForTwentySteps());
    }

    /** Writes all lines into the file named by the first argument, to be imported by hand. */
    public static void main(String[] arguments) throws Exception {
        Files.writeString(Path.of(arguments[0]), EventText.lines(all()));
    }

    // ---- prefill against decode

    private static EventText twoEnginesOneWithALongPrompt() {
        EventText s = new EventText("v01");
        EventText other = s.beside("v01/other", 0, "v01/other");
        s.starts = false;
        s.queued("A", 48).step(20 * MS, List.of(s.prompt("A", 48))).decode(150, 12 * MS, "A");
        other.queued("Z", 48).step(20 * MS, List.of(other.prompt("Z", 48)));
        s.queued("B", 24_576);
        for (int i = 0; i < 24; i++) {
            List<Map<String, Object>> rows = new ArrayList<>(List.of(s.decode("A")));
            rows.add(
                    i == 0
                            ? s.firstChunk("B", 1_024)
                            : i == 23 ? s.row("B", "prefill", 1_024, 1) : s.chunk("B", 1_024));
            s.step(about(95 * MS, i), rows);
        }
        s.decode(120, 12_400_000, "A", "B");
        other.decode(400, 12 * MS, "Z");
        return s.then(r -> {
            r.mostly("A", 151, 174, "PREFILL_INTERFERENCE");
            assertThat(r.token("A", 160).culpritRequestId()).isEqualTo("v01-B");
            r.quiet("Z", 20, 400).quiet("A", 20, 150);
            r.never("KV_PRESSURE", "PREEMPTION", "CONTEXT_STAIRCASE", "HOST_GAP", "QUEUE_WAIT");
        });
    }

    private static EventText twoVictimsOfAChunkBurstOnRankOne() {
        EventText s = new EventText("v03");
        s.dpRank = 1;
        s.engine("EngineConfigured", "tokenBudgetTokens", 2_048, "maxSequencesCount", 32);
        s.queued("A", 64).queued("C", 64);
        s.step(25 * MS, List.of(s.prompt("A", 64), s.prompt("C", 64))).decode(120, 9 * MS, "A", "C");
        s.queued("B", 47_104);
        for (int i = 0; i < 23; i++) {
            s.step(
                    about(800 * MS, i),
                    List.of(
                            i == 0
                                    ? s.firstChunk("B", 2_048)
                                    : i == 22 ? s.row("B", "prefill", 2_048, 1) : s.chunk("B", 2_048)));
        }
        s.decode(80, 9_300_000, "A", "C", "B");
        return s.then(r -> {
            r.slow("A", 121, 121, "DECODE_STARVED_BY_PREFILL", "B");
            r.slow("C", 121, 121, "DECODE_STARVED_BY_PREFILL", "B");
            assertThat(part(r.token("A", 121), Part.SKIPPED_WAIT)).isBetween(18 * SECOND, 19 * SECOND);
            r.never("CONTEXT_STAIRCASE", "CONTEXT_GROWTH", "PREEMPTION", "KV_PRESSURE", "TOKEN_BUDGET_STARVATION");
        });
    }

    private static EventText theSkippedLaneChanges() {
        EventText s = new EventText("v05");
        s.engine("EngineConfigured", "tokenBudgetTokens", 256);
        String[] lanes = {"a", "b", "c", "d", "e"};
        for (String lane : lanes) {
            s.queued(lane, 40).step(15 * MS, List.of(s.prompt(lane, 40)));
        }
        s.decode(100, 18 * MS, lanes).queued("P", 20_000);
        for (int i = 0; i < 40; i++) {
            // First one of them is left out for twenty steps, then another one.
            String skipped = i < 20 ? "e" : "b";
            List<Map<String, Object>> rows = new ArrayList<>();
            for (String lane : lanes) {
                if (!lane.equals(skipped)) {
                    rows.add(s.decode(lane));
                }
            }
            rows.add(i == 0 ? s.firstChunk("P", 252) : s.chunk("P", 252));
            s.step(about(36 * MS, i), rows);
        }
        s.decode(40, 18 * MS, lanes);
        return s.then(r -> {
            r.slow("e", 100 + 1, 100 + 1, "TOKEN_BUDGET_STARVATION", "P");
            assertThat(r.of("b", 110, 135).stream().map(TokenAnalysis::cause).filter("TOKEN_BUDGET_STARVATION"::equals))
                    .hasSize(1);
            r.never("PREEMPTION", "KV_PRESSURE", "DECODE_STARVED_BY_PREFILL", "PREEMPTED_THEN_OVERTAKEN");
        });
    }

    private static EventText emptyFirstChunkAtTheGateway() {
        EventText s = new EventText("v06");
        long sent = s.nowNanos;
        s.received("gateway", "R").idle(3 * MS).queued("R", 9_000);
        s.step(620 * MS, List.of(s.firstChunk("R", 4_096)));
        s.arrived("gateway", "R", 0, 0, s.nowNanos + 2 * MS);
        s.step(640 * MS, List.of(s.chunk("R", 4_096))).step(150 * MS, List.of(s.row("R", "prefill", 808, 1)));
        s.arrived("gateway", "R", 0, 1, s.nowNanos + 2 * MS);
        long first = s.nowNanos + 2 * MS;
        for (int i = 1; i < 90; i++) {
            s.step(about(25 * MS, i), List.of(s.decode("R")));
            s.arrived("gateway", "R", i, 1, s.nowNanos + 2 * MS);
        }
        s.finished("R", "stop").completed("gateway", "R", "complete", s.nowNanos + 3 * MS);
        return s.then(r -> {
            assertThat(r.request("R").ttftNanos()).isEqualTo(first - sent);
            assertThat(r.request("R").requestCauses()).contains("ROLE_CHUNK");
            r.quiet("R", 1, 89).never("OUTPUT_STALL", "GATEWAY_BUFFERING", "HOST_GAP", "UNRESOLVED_STALL");
        });
    }

    private static EventText tokensPublishedOneStepLaterByAGateway() {
        EventText s = new EventText("v07");
        s.engine("EngineConfigured", "asyncScheduling", true);
        s.received("gateway", "R").queued("R", 200).step(40 * MS, List.of(s.prompt("R", 200)));
        for (int i = 1; i < 150; i++) {
            // Every tenth step also computes a prompt: what is published then comes with that step.
            s.step(about(i % 10 == 0 ? 31 * MS : 22 * MS, i), List.of(s.decode("R")));
            s.arrived("gateway", "R", i - 1, 1, s.nowNanos + MS);
        }
        s.arrived("gateway", "R", 149, 1, s.nowNanos + 23 * MS);
        return s.then(r -> r.never("OUTPUT_STALL", "GATEWAY_BUFFERING", "NETWORK", "CLIENT_SLOW"));
    }

    // ---- KV pressure, preemption, eviction

    private static EventText loopThatGainsLittle() {
        EventText s = new EventText("v08");
        s.engine("EngineConfigured", "tokenBudgetTokens", 4_096, "kvTotalBlocksCount", 6_000, "blockSizeTokens", 16);
        String[] holders = {"h0", "h1", "h2"};
        for (String holder : holders) {
            s.queued(holder, 20_000).step(900 * MS, List.of(s.prompt(holder, 20_000)));
        }
        s.decode(60, 24 * MS, holders).queued("R", 12_000);
        s.step(600 * MS, s.with(s.decodes(holders), s.prompt("R", 12_000)));
        for (int round = 0; round < 5; round++) {
            s.step(24 * MS, s.decodes("h0", "h1", "h2", "R"));
            s.preempted("R", "h1");
            s.decode(4, 24 * MS, holders);
            s.step(about(620 * MS, round), s.with(s.decodes(holders), s.resumed("R", 12_000 + 2 * round, true)));
        }
        s.decode(30, 24 * MS, "h0", "h1", "h2", "R");
        return s.then(r -> {
            assertThat(r.finding("PREEMPTION_LOOP").requestId()).isEqualTo("v08-R");
            assertThat(r.request("R").preemptions()).isEqualTo(5);
            assertThat(r.of("R", 1, 20).stream().map(TokenAnalysis::cause)).contains("PREEMPTION");
            assertThat(r.of("h0", 60, 100).stream().map(TokenAnalysis::cause)).contains("RECOMPUTE");
            r.never("CONTEXT_STAIRCASE", "SEAT_LIMIT");
        });
    }

    private static EventText fullCacheUntilTheFirstPreemption() {
        EventText s = new EventText("v09");
        s.engine("EngineConfigured", "kvTotalBlocksCount", 4_000, "blockSizeTokens", 16);
        String[] all = {"r0", "r1", "r2", "r3", "r4", "r5"};
        for (String one : all) {
            s.queued(one, 100).step(20 * MS, List.of(s.prompt(one, 100)));
        }
        for (int i = 0; i < 300; i++) {
            s.ofSteps.put("kvUsedBlocksCount", 3_700L + i);
            s.step(about(26 * MS, i), s.decodes(all));
        }
        long flatUntil = s.nowNanos;
        s.ofSteps.put("kvUsedBlocksCount", 4_000L);
        s.preempted("r5", "r0", "discardedTokens", 405);
        for (int i = 0; i < 30; i++) {
            s.step(about(25 * MS, i), s.decodes("r0", "r1", "r2", "r3", "r4"));
        }
        s.ofSteps.put("kvUsedBlocksCount", 3_600L);
        s.step(80 * MS, s.with(s.decodes("r0", "r1", "r2", "r3", "r4"), s.resumed("r5", 405, true)));
        s.decode(40, 26 * MS, all);
        long begun = flatUntil / MS + s.epochMillisAtZero;
        return s.then(r -> {
            assertThat(r.findings("KV_PRESSURE").stream().filter(finding -> finding.requestId() == null))
                    .allSatisfy(finding -> assertThat(finding.confidence()).isEqualTo("established"));
            r.slow("r5", 301, 301, "PREEMPTION", "r0");
            for (String one : all) {
                r.quiet(one, 20, 300);
            }
            assertThat(r.findings())
                    .filteredOn(finding -> finding.fromEpochNanos() != null)
                    .allSatisfy(
                            finding -> assertThat(finding.fromEpochNanos() / MS).isGreaterThanOrEqualTo(begun - 1_000));
            r.never("PREEMPTION_STORM", "PREEMPTION_LOOP", "CONTEXT_STAIRCASE");
        });
    }

    private static EventText metrics(
            String name, String running, String waiting, String usage, String paused, int most) {
        EventText s = new EventText(name);
        for (int i = 0; i < 90; i++) {
            s.metric(running, 48).metric(waiting, 20).metric(usage, 0.99);
            if (!paused.isEmpty()) {
                s.metric(paused, i % 5 == 0 ? most : 0);
            }
            s.idle(2 * SECOND);
        }
        return s;
    }

    private static EventText retractedRequestsCounted() {
        return metrics(
                        "v10",
                        "sglang:num_running_reqs",
                        "sglang:num_queue_reqs",
                        "sglang:token_usage",
                        "sglang:num_retracted_reqs",
                        3)
                .then(r -> {
                    assertThat(r.finding("KV_PRESSURE").confidence()).isEqualTo("consistent-with");
                    assertThat(r.finding("KV_PRESSURE").narrative()).contains("paused requests observed in 18 of 90");
                    r.never("PREEMPTION", "PREEMPTION_STORM", "PREEMPTION_LOOP");
                });
    }

    private static EventText usageAloneInMetrics() {
        return metrics("v10b", "vllm:num_requests_running", "other_gauge", "vllm:gpu_cache_usage_perc", "", 0)
                .then(r -> {
                    assertThat(r.findings()).isEmpty();
                    r.never("KV_PRESSURE", "PREEMPTION");
                });
    }

    private static EventText healthyPreemptionAmongMany() {
        EventText s = new EventText("v12");
        for (int group = 0; group < 20; group++) {
            String[] all = new String[6];
            for (int i = 0; i < 6; i++) {
                all[i] = "g" + group + "r" + i;
                s.queued(all[i], 300).step(35 * MS, List.of(s.prompt(all[i], 300)));
            }
            s.decode(50, 15 * MS, all);
            if (group % 2 == 1) {
                String[] others = java.util.Arrays.copyOf(all, 5);
                s.preempted(all[5], all[1]).decode(6, 15 * MS, others);
                s.step(60 * MS, s.with(s.decodes(others), s.resumed(all[5], 351, true)));
            }
            s.decode(50, 15 * MS, all);
            for (String one : all) {
                s.finished(one, "stop");
            }
        }
        return s.then(r -> {
            assertThat(r.causes()).contains("PREEMPTION");
            r.never("PREEMPTION_STORM", "PREEMPTION_LOOP", "PREEMPTED_THEN_OVERTAKEN");
        });
    }

    private static EventText lessUrgentOvertakes() {
        EventText s = new EventText("v13");
        s.queued("A", 3_000, "priority", 1).queued("C", 80, "priority", 1);
        s.step(200 * MS, List.of(s.prompt("A", 3_000), s.prompt("C", 80))).decode(60, 14 * MS, "A", "C");
        s.queued("urgent", 500, "priority", 0).queued("B", 900, "priority", 3);
        s.preempted("A", "C");
        s.step(45 * MS, s.with(s.decodes("C"), s.prompt("urgent", 500)));
        s.decode(10, 14 * MS, "C", "urgent");
        s.step(70 * MS, s.with(s.decodes("C", "urgent"), s.prompt("B", 900)));
        s.decode(20, 14 * MS, "C", "urgent", "B");
        s.step(210 * MS, s.with(s.decodes("C", "urgent", "B"), s.resumed("A", 3_061, true)));
        s.decode(40, 14 * MS, "A", "B", "C", "urgent");
        return s.then(r -> {
            Finding overtaken = r.finding("PREEMPTED_THEN_OVERTAKEN");
            assertThat(overtaken.requestId()).isEqualTo("v13-A");
            // The more urgent one had every right to run first.
            assertThat(overtaken.culpritRequestId()).isEqualTo("v13-B");
            r.slow("A", 61, 61, "PREEMPTION", "C");
            r.never("PREEMPTION_LOOP", "PREEMPTION_STORM");
        });
    }

    private static EventText prefixMissedWithoutAnEviction() {
        EventText s = new EventText("v14");
        s.engine("EngineConfigured", "blockSizeTokens", 32, "kvTotalBlocksCount", 9_000);
        List<Long> prefix = hashes(777_000, 60);
        for (int turn = 0; turn < 8; turn++) {
            String request = "t" + turn;
            boolean miss = turn == 0 || turn == 4;
            s.queued(request, 1_960);
            s.step(
                    miss ? 700 * MS : 40 * MS,
                    List.of(miss ? s.prompt(request, 1_960) : s.row(request, "prefill", 40, 1, "cachedTokens", 1_920)),
                    "kvUsedBlocksCount",
                    800,
                    "kvBatchSequence",
                    turn + 1);
            if (miss) {
                s.engine(
                        "KvBlocksStored",
                        "batchSequence",
                        turn + 1,
                        "eventIndex",
                        0,
                        "blockHashes",
                        prefix,
                        "blockSizeTokens",
                        32);
            }
            s.decode(30, 18 * MS, request).finished(request, "stop");
        }
        return s.then(r -> {
            assertThat(r.findings("PREFIX_HIT_COLLAPSE"))
                    .extracting(Finding::requestId)
                    .containsExactly("v14-t4");
            r.never("PREEMPTION", "KV_PRESSURE", "RECOMPUTE");
        });
    }

    private static EventText deferredForRemoteKvWithoutAnEnd() {
        EventText s = new EventText("v17");
        s.engine("EngineConfigured", "kvTotalBlocksCount", 5_000, "blockSizeTokens", 16, "maxSequencesCount", 64);
        s.ofSteps.put("kvUsedBlocksCount", 4_985L);
        s.ofSteps.put("runningCount", 3);
        String[] all = {"a", "b", "c"};
        for (String one : all) {
            s.queued(one, 150).step(25 * MS, List.of(s.prompt(one, 150)));
        }
        s.decode(80, 13 * MS, all).queued("w1", 2_000).queued("w2", 3_000);
        long from = s.nowNanos;
        for (int i = 0; i < 100; i++) {
            s.step(about(13 * MS, i), s.decodes(all), "waitingCount", 2);
            if (i % 20 == 0) {
                // Under way, as the engine reports it now and then; never an end.
                for (String waits : new String[] {"w1", "w2"}) {
                    s.engine(
                            "KvTransferred",
                            "engineRequestId",
                            s.id(waits),
                            "transferKind",
                            "remote",
                            "direction",
                            "load",
                            "startNanos",
                            from);
                }
            }
        }
        s.step(20 * MS, s.with(s.decodes(all), s.row("w1", "prefill", 1, 1, "cachedTokens", 1_999)));
        s.step(20 * MS, s.with(s.decodes("a", "b", "c", "w1"), s.row("w2", "prefill", 1, 1, "cachedTokens", 2_999)));
        s.decode(40, 13 * MS, "a", "b", "c", "w1", "w2");
        return s.then(r -> {
            assertThat(r.token("w1", 0).cause()).isEqualTo("REMOTE_KV_ADMISSION");
            assertThat(r.token("w2", 0).cause()).isEqualTo("REMOTE_KV_ADMISSION");
            r.never("PREEMPTION", "KV_PRESSURE", "PREEMPTION_STORM", "SEAT_LIMIT");
        });
    }

    private static EventText blocksFromASlowerTier() {
        EventText s = new EventText("v17b");
        s.queued("a", 150).step(25 * MS, List.of(s.prompt("a", 150))).decode(80, 13 * MS, "a");
        s.queued("w", 2_000);
        long from = s.nowNanos;
        s.decode(60, 13 * MS, "a");
        s.engine(
                "KvTransferred",
                "engineRequestId",
                s.id("w"),
                "transferKind",
                "offload",
                "direction",
                "load",
                "startNanos",
                from + 2 * MS,
                "endNanos",
                s.nowNanos - MS,
                "peer",
                "cpu");
        s.step(20 * MS, s.with(s.decodes("a"), s.row("w", "prefill", 1, 1, "cachedTokens", 1_999)));
        s.decode(40, 13 * MS, "a", "w");
        return s.then(r -> {
            assertThat(r.token("w", 0).cause()).isEqualTo("KV_OFFLOAD");
            r.never("REMOTE_KV_ADMISSION", "PREEMPTION", "KV_PRESSURE");
        });
    }

    // ---- graphs, kernels, compilation

    private static EventText piecewiseToEagerForGood() {
        EventText s = new EventText("v18");
        s.engine("EngineConfigured", "maxGraphBatchCount", 16, "maxSequencesCount", 512);
        String[] few = new String[10];
        String[] many = new String[40];
        for (int i = 0; i < 40; i++) {
            many[i] = "r" + i;
            s.queued(many[i], 50);
        }
        System.arraycopy(many, 0, few, 0, 10);
        List<Map<String, Object>> prompts = new ArrayList<>();
        for (String one : few) {
            prompts.add(s.prompt(one, 50));
        }
        s.step(40 * MS, prompts, "graphMode", "eager");
        s.ofSteps.put("graphMode", "piecewise");
        s.decode(300, 5 * MS, few);
        List<Map<String, Object>> joining = new ArrayList<>();
        for (int i = 10; i < 40; i++) {
            joining.add(s.prompt(many[i], 50));
        }
        s.ofSteps.put("graphMode", "eager");
        s.step(80 * MS, joining).decode(500, 17 * MS, many);
        return s.then(r -> {
            assertThat(r.of("r0", 302, 380).stream()
                            .map(TokenAnalysis::cause)
                            .filter("KERNEL_FALLBACK"::equals)
                            .count())
                    .isGreaterThan(60);
            assertThat(r.findings("KERNEL_FALLBACK"))
                    .filteredOn(finding -> finding.requestId() == null)
                    .singleElement()
                    .satisfies(
                            finding -> assertThat(finding.narrative()).contains("it had not returned to its graphs"));
            r.never("KV_PRESSURE", "PREEMPTION", "THERMAL_CLOCK", "HOST_GAP");
        });
    }

    private static EventText oneSizeNotCaptured() {
        EventText s = new EventText("v19");
        String[] all = new String[12];
        List<Map<String, Object>> prompts = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            all[i] = "r" + i;
            s.queued(all[i], 60);
            prompts.add(s.prompt(all[i], 60));
        }
        s.step(30 * MS, prompts, "graphMode", "eager");
        for (int i = 0; i < 400; i++) {
            boolean missing = i >= 200 && i % 37 == 0;
            s.step(
                    about(missing ? 26 * MS : 8 * MS, i),
                    s.decodes(all),
                    "graphMode",
                    missing ? "eager" : "full",
                    "paddedBatchCount",
                    missing ? 12 : 16);
        }
        return s.then(r -> {
            assertThat(r.of("r3", 20, 400).stream()
                            .filter(token -> token.cause() != null)
                            .map(token -> token.tokenIndex() + " " + token.cause()))
                    .containsExactly(
                            "223 KERNEL_FALLBACK",
                            "260 KERNEL_FALLBACK",
                            "297 KERNEL_FALLBACK",
                            "334 KERNEL_FALLBACK",
                            "371 KERNEL_FALLBACK");
            r.never("BATCH_GROWTH", "UNRESOLVED_STALL", "JIT_COMPILE");
        });
    }

    private static void kernel(EventText s, String kernel, String kernelClass, long start, long nanos) {
        s.put(
                "KernelRan",
                s.name + "/gpu",
                "engineId",
                s.engineId,
                "deviceId",
                "gpu-0",
                "stepId",
                s.stepId - 1,
                "kernelName",
                kernel,
                "kernelClass",
                kernelClass,
                "startNanos",
                start,
                "durationNanos",
                nanos,
                "clockNanos",
                s.nowNanos);
    }

    private static EventText anotherAttentionKernel() {
        EventText s = new EventText("v18k");
        s.queued("R", 64).queued("S", 64);
        s.step(30 * MS, List.of(s.prompt("R", 64), s.prompt("S", 64)));
        for (int i = 0; i < 220; i++) {
            boolean other = i >= 160;
            long nanos = about(other ? 29 * MS : 11 * MS, i);
            long start = s.nowNanos + MS;
            s.step(nanos, s.decodes("R", "S"));
            kernel(s, "cublas_gemm", "gemm", start, 6 * MS);
            kernel(s, other ? "naive_attention" : "flash_attn_splitkv", "attention", start + 6 * MS, nanos - 8 * MS);
        }
        return s.then(r -> {
            assertThat(r.of("R", 161, 180).stream()
                            .map(TokenAnalysis::cause)
                            .filter("KERNEL_FALLBACK"::equals)
                            .count())
                    .isGreaterThan(15);
            assertThat(r.findings("KERNEL_FALLBACK")).anySatisfy(finding -> {
                assertThat(finding.requestId()).isNull();
                assertThat(finding.narrative()).contains("naive_attention", "flash_attn_splitkv");
            });
            r.never("THERMAL_CLOCK", "KV_PRESSURE", "CONTEXT_STAIRCASE", "JIT_COMPILE");
        });
    }

    private static EventText compiledOncePerShape() {
        EventText s = new EventText("v21");
        s.queued("R", 32).queued("S", 32);
        s.step(30 * MS, List.of(s.prompt("R", 32), s.prompt("S", 32))).decode(120, 21 * MS, "R", "S");
        for (int shape = 2; shape < 5; shape++) {
            long from = s.nowNanos;
            List<Map<String, Object>> rows = new ArrayList<>();
            rows.add(s.row("R", "decode", shape, shape));
            rows.add(s.decode("S"));
            s.step(1_250 * MS, rows);
            s.engine(
                    "ShapeCompiled",
                    "shape",
                    "[" + shape + "]",
                    "startNanos",
                    from + 3 * MS,
                    "endNanos",
                    s.nowNanos - 15 * MS);
            s.decode(60, 21 * MS, "R", "S");
        }
        return s.then(r -> {
            assertThat(r.of("S", 20, 400).stream()
                            .filter(token -> token.cause() != null)
                            .map(TokenAnalysis::cause))
                    .containsExactly("JIT_COMPILE", "JIT_COMPILE", "JIT_COMPILE");
            r.never("HOST_GAP", "UNRESOLVED_STALL", "BATCH_GROWTH", "KERNEL_SLOW");
        });
    }

    // ---- host, power, network, gateway

    private static EventText growingPausesWithoutAReason() {
        EventText s = new EventText("v24");
        s.queued("A", 32).queued("B", 40);
        s.step(30 * MS, List.of(s.prompt("A", 32), s.prompt("B", 40)));
        for (int i = 0; i < 4; i++) {
            s.decode(90, 17 * MS, "A", "B");
            long from = s.nowNanos;
            s.idle((2 + 5 * i) * SECOND);
            s.put(
                    "HostPaused",
                    "v24/host",
                    "engineId",
                    "v24",
                    "processRole",
                    "worker",
                    "startNanos",
                    from,
                    "endNanos",
                    s.nowNanos,
                    "clockNanos",
                    s.nowNanos);
        }
        s.decode(60, 17 * MS, "A", "B");
        return s.then(r -> {
            r.slow("A", 91, 91, "HOST_PAUSE", null, "worker").slow("B", 361, 361, "HOST_PAUSE", null, "worker");
            assertThat(r.findings("HOST_PAUSE"))
                    .filteredOn(finding -> finding.requestId() == null)
                    .singleElement()
                    .satisfies(finding -> assertThat(finding.narrative())
                            .contains("each time for longer", "No record says why")
                            .doesNotContainIgnoringCase("gc"));
            r.never("HOST_GAP", "KERNEL_SLOW", "STREAM_SYNC");
        });
    }

    private static EventText frozenInItsHostPhase() {
        EventText s = new EventText("v24b");
        s.queued("A", 32).step(30 * MS, List.of(s.prompt("A", 32)));
        for (int i = 0; i < 200; i++) {
            long start = s.nowNanos;
            long scheduling = i == 150 ? 900 * MS : MS;
            s.step(
                    scheduling + about(15 * MS, i),
                    s.decodes("A"),
                    "scheduleEndNanos",
                    start + scheduling,
                    "updateStartNanos",
                    start + scheduling + 13 * MS);
        }
        return s.then(r -> {
            r.slow("A", 151, 151, "HOST_GAP", null);
            assertThat(part(r.token("A", 151), Part.HOST_GAP)).isBetween(880 * MS, 910 * MS);
            r.never("HOST_PAUSE", "STREAM_SYNC", "KERNEL_SLOW", "JIT_COMPILE");
        });
    }

    private static EventText clockFollowsByItself() {
        EventText s = new EventText("v26");
        s.queued("R", 32).step(60 * MS, List.of(s.prompt("R", 32)));
        for (int i = 0; i < 260; i++) {
            boolean hot = i >= 180;
            s.put(
                    "DeviceSampled",
                    "v26/gpu",
                    "engineId",
                    "v26",
                    "deviceId",
                    "gpu-3",
                    "smClockHertz",
                    hot ? 1_200_000_000L : 1_800_000_000L,
                    "clockNanos",
                    s.nowNanos);
            s.step(about(hot ? 63 * MS : 42 * MS, i), s.decodes("R"));
        }
        return s.then(r -> {
            assertThat(r.of("R", 182, 200).stream()
                            .filter(token -> "THERMAL_CLOCK".equals(token.cause()))
                            .count())
                    .isGreaterThan(15);
            assertThat(r.token("R", 185).confidence()).isEqualTo("consistent-with");
            assertThat(r.token("R", 185).culpritRequestId()).isEqualTo("gpu-3");
            r.never("BATCH_GROWTH", "CONTEXT_GROWTH", "KV_PRESSURE", "PREFILL_INTERFERENCE", "KERNEL_SLOW");
        });
    }

    private static EventText gatewayHoldsForItsClient() {
        EventText s = new EventText("v27");
        s.received("client", "R").queued("R", 32).step(90 * MS, List.of(s.prompt("R", 32)));
        List<Long> ends = new ArrayList<>(List.of(s.nowNanos));
        for (int i = 1; i < 240; i++) {
            s.step(about(90 * MS, i), s.decodes("R"));
            ends.add(s.nowNanos);
        }
        for (int i = 0; i < 240; i++) {
            long release = ends.get(Math.min(239, i / 24 * 24 + 23)) + 3 * MS;
            s.arrived("client", "R", i, 1, release + (i % 24) * 30_000L);
        }
        s.completed("client", "R", "complete", s.nowNanos + 10 * MS);
        return s.then(r -> {
            assertThat(r.finding("GATEWAY_BUFFERING").culpritRequestId()).isEqualTo("gateway");
            assertThat(r.request("R").requestCauses()).contains("GATEWAY_BUFFERING");
            r.quiet("R", 20, 239).never("OUTPUT_STALL", "NETWORK", "CLIENT_SLOW", "HOST_GAP");
        });
    }

    private static EventText clientThatDoesNotRead() {
        EventText s = new EventText("v27c");
        s.received("gateway", "R").queued("R", 32).step(40 * MS, List.of(s.prompt("R", 32)));
        for (int i = 0; i < 160; i++) {
            long at = s.nowNanos + MS;
            long blocked = i >= 100 && i % 20 == 0 ? 260 * MS : 40_000L;
            s.arrived("gateway", "R", i, 1, at, "writeStartNanos", at + 20_000, "writeEndNanos", at + 20_000 + blocked);
            s.step(about(300 * MS, i), s.decodes("R"));
        }
        return s.then(r -> {
            assertThat(r.token("R", 120).deliveryCause()).isEqualTo("CLIENT_SLOW");
            assertThat(r.token("R", 120).culpritRequestId()).isEqualTo("client");
            assertThat(r.finding("CLIENT_SLOW").culpritRequestId()).isEqualTo("client");
            r.never("OUTPUT_STALL", "NETWORK", "GATEWAY_BUFFERING", "HOST_GAP");
        });
    }

    private static EventText slowNetworkOnAlignedClocks() {
        EventText s = new EventText("v27n");
        s.received("client", "R").received("gateway", "R").queued("R", 32);
        s.step(30 * MS, List.of(s.prompt("R", 32)));
        for (int i = 0; i < 140; i++) {
            long at = s.nowNanos + MS;
            s.arrived("gateway", "R", i, 1, at, "writeStartNanos", at + 20_000, "writeEndNanos", at + 40_000);
            s.arrived("client", "R", i, 1, at + 40_000 + (i == 90 ? 210 * MS : 5 * MS));
            s.step(about(250 * MS, i), s.decodes("R"));
        }
        return s.then(r -> {
            assertThat(r.token("R", 90).deliveryCause()).isEqualTo("NETWORK");
            r.quiet("R", 20, 139).never("OUTPUT_STALL", "CLIENT_SLOW", "GATEWAY_BUFFERING");
        });
    }

    private static EventText firstChunkStampedByAnotherHost() {
        EventText s = new EventText("v28");
        s.received("client", "R").idle(200 * MS);
        for (int i = 0; i < 50; i++) {
            s.idle(about(30 * MS, i));
            // The first stamp is another host's time to its first token: beyond the two that follow.
            s.arrived("client", "R", i, 1, s.nowNanos + (i == 0 ? 75 * MS : 0), "finish", i == 49 ? "stop" : "none");
        }
        s.completed("client", "R", "complete", s.nowNanos + MS);
        return s.then(r -> {
            assertThat(r.request("R").invalidStamps()).isPositive();
            assertThat(r.tokens())
                    .allSatisfy(token -> assertThat(token.gapNanos() == null || token.gapNanos() > 0)
                            .isTrue());
            r.never("OUTPUT_STALL", "NETWORK", "UNRESOLVED_STALL", "HOST_GAP");
        });
    }

    // ---- identity, accounting, stream shape

    private static EventText sameIdTwiceOnOneEngine() {
        EventText s = new EventText("v30");
        // The engine adds nothing of its own: whose a token is cannot be told once both are open.
        s.queued("R", 40).step(20 * MS, List.of(s.prompt("R", 40))).decode(30, 20 * MS, "R");
        s.finished("R", "stop").idle(5 * SECOND);
        s.queued("R", 80).step(25 * MS, List.of(s.prompt("R", 80))).decode(12, 20 * MS, "R");
        s.finished("R", "length");
        return s.then(r -> {
            assertThat(r.requests()).extracting(RequestAnalysis::lifetime).containsExactlyInAnyOrder(0, 1);
            assertThat(r.requests()).extracting(RequestAnalysis::tokenCount).containsExactlyInAnyOrder(31L, 13L);
            assertThat(r.tokens())
                    .extracting(token -> token.lifetime() + "/" + token.tokenIndex())
                    .doesNotHaveDuplicates();
            r.never("UNRESOLVED_STALL", "PREEMPTION", "HOST_GAP");
        });
    }

    private static EventText prefillAndDecodeEngineOnTwoClocks() {
        EventText s = new EventText("v30b");
        EventText prefill = s.beside("v30b/prefill", 0, "v30b/prefill");
        prefill.clockId = "v30b/elsewhere";
        prefill.queued("R", 3_000)
                .step(350 * MS, List.of(prefill.prompt("R", 3_000)))
                .finished("R", "length");
        s.idle(360 * MS).queued("R", 3_000);
        s.step(18 * MS, List.of(s.row("R", "prefill", 1, 1, "cachedTokens", 2_999)));
        s.decode(45, 17 * MS, "R").finished("R", "stop");
        return s.then(r -> {
            assertThat(r.requests()).hasSize(1);
            assertThat(r.request("R").engines()).containsExactly("v30b/prefill", "v30b");
            assertThat(r.request("R").tokenCount()).isEqualTo(46);
            assertThat(r.tokens())
                    .allSatisfy(token -> assertThat(token.gapNanos() == null || token.gapNanos() > 0)
                            .isTrue());
            r.never("PREEMPTION", "RECOMPUTE", "NETWORK");
        });
    }

    private static EventText abortedLongBeforeTheEngineEnds() {
        EventText s = new EventText("v31");
        s.received("client", "R").received("client", "S").queued("R", 8_000).queued("S", 30);
        s.step(400 * MS, List.of(s.firstChunk("R", 2_000), s.prompt("S", 30)));
        s.arrived("client", "S", 0, 1, s.nowNanos + MS);
        s.completed("client", "R", "client-closed", s.nowNanos + 5 * MS);
        for (int i = 1; i < 60; i++) {
            s.step(about(20 * MS, i), s.decodes("S"));
            s.arrived("client", "S", i, 1, s.nowNanos + MS);
        }
        s.idle(60 * SECOND).finished("R", "aborted").finished("S", "stop");
        return s.then(r -> {
            RequestAnalysis aborted = r.request("R");
            assertThat(aborted.ttftNanos()).isNull();
            assertThat(aborted.tpotNanos()).isNull();
            assertThat(aborted.tokenCount()).isZero();
            assertThat(aborted.endReason()).isEqualTo("aborted-by-client");
            assertThat(r.finding("CLIENT_ABORT").culpritRequestId()).isEqualTo("client");
            assertThat(r.of("R", 0, 9)).isEmpty();
            assertThat(r.request("S").tokenCount()).isEqualTo(60);
            r.never("HOST_GAP", "UNRESOLVED_STALL");
        });
    }

    private static EventText emptyAnswersBesideFullOnes() {
        EventText s = new EventText("v32");
        for (int i = 0; i < 6; i++) {
            String request = "r" + i;
            s.received("client", request);
            if (i % 2 == 0) {
                s.completed("client", request, "complete", s.nowNanos + 9 * MS, "httpStatus", 200, "outputTokens", 0);
            } else {
                for (int k = 0; k < 20; k++) {
                    s.arrived("client", request, k, 1, s.nowNanos + (40 + 21L * k) * MS);
                }
                s.completed("client", request, "complete", s.nowNanos + 500 * MS, "outputTokens", 20);
            }
            s.idle(600 * MS);
        }
        return s.then(r -> {
            assertThat(r.requests()).hasSize(6);
            assertThat(r.requests())
                    .filteredOn(request -> request.tokenCount() == 0)
                    .hasSize(3)
                    .allSatisfy(request -> {
                        assertThat(request.ttftNanos()).isNull();
                        assertThat(request.tpotNanos()).isNull();
                    });
            assertThat(r.requests())
                    .filteredOn(request -> request.tokenCount() == 20)
                    .allSatisfy(request -> assertThat(request.tpotNanos()).isEqualTo(21 * MS));
            assertThat(r.findings()).isEmpty();
        });
    }

    private static EventText changingAcceptance() {
        EventText s = new EventText("v33");
        s.received("client", "R").queued("R", 32).step(30 * MS, List.of(s.prompt("R", 32)));
        s.arrived("client", "R", 0, 1, s.nowNanos + MS);
        int next = 1;
        for (int i = 0; i < 200; i++) {
            int accepted = 1 + (i * 7) % 5;
            s.step(about(12 * MS, i), List.of(s.row("R", "decode", accepted, accepted)));
            s.arrived("client", "R", next, accepted, s.nowNanos + MS);
            next += accepted;
        }
        int count = next;
        return s.then(r -> {
            assertThat(r.request("R").tokenCount()).isEqualTo(count);
            assertThat(r.request("R").requestCauses()).contains("MULTI_TOKEN_CHUNK");
            r.quiet("R", 1, count).never("OUTPUT_STALL", "GATEWAY_BUFFERING", "UNRESOLVED_STALL", "BATCH_GROWTH");
        });
    }

    private static EventText threeChoicesOfOnePrompt() {
        EventText s = new EventText("v34");
        String[] engineIds = new String[3];
        for (int choice = 0; choice < 3; choice++) {
            engineIds[choice] = choice + "_chatcmpl-v34-P-00c0ffee";
            s.engine("RequestQueued", "engineRequestId", engineIds[choice], "promptTokens", 70);
        }
        for (int i = 0; i < 80; i++) {
            List<Map<String, Object>> rows = new ArrayList<>();
            for (int choice = 0; choice < 3; choice++) {
                if (choice == 2 && i >= 50) {
                    continue;
                }
                rows.add(
                        i == 0
                                ? Map.of(
                                        "engineRequestId",
                                        engineIds[choice],
                                        "phase",
                                        "prefill",
                                        "contextTokens",
                                        70,
                                        "scheduledTokens",
                                        70,
                                        "tokenCount",
                                        1,
                                        "firstTokenIndex",
                                        0,
                                        "cachedTokens",
                                        0)
                                : Map.of(
                                        "engineRequestId",
                                        engineIds[choice],
                                        "contextTokens",
                                        70 + i,
                                        "firstTokenIndex",
                                        i));
            }
            s.step(about(19 * MS, i), rows);
        }
        return s.then(r -> {
            assertThat(r.requests()).extracting(RequestAnalysis::sequenceIndex).containsExactlyInAnyOrder(0, 1, 2);
            assertThat(r.requests()).extracting(RequestAnalysis::requestId).containsOnly("v34-P");
            assertThat(r.requests()).extracting(RequestAnalysis::tokenCount).containsExactlyInAnyOrder(80L, 80L, 50L);
            assertThat(r.requests()).extracting(RequestAnalysis::lifetime).containsOnly(0);
        });
    }

    private static EventText hungUpAndComputedAgain() {
        EventText s = new EventText("v37");
        s.engine("EngineConfigured", "blockSizeTokens", 16);
        List<Long> prefix = hashes(880_000, 180);
        s.received("client", "first").queued("first", 2_900);
        s.step(1_500 * MS, List.of(s.prompt("first", 2_900)), "kvBatchSequence", 1);
        s.stored(1, prefix);
        s.decode(20, 25 * MS, "first");
        s.completed("client", "first", "client-closed", s.nowNanos).finished("first", "aborted");
        s.idle(3 * SECOND).received("client", "second").queued("second", 2_900);
        s.step(1_500 * MS, List.of(s.prompt("second", 2_900)), "kvBatchSequence", 2);
        s.stored(2, prefix);
        s.decode(30, 25 * MS, "second");
        return s.then(r -> {
            assertThat(r.request("first").requestCauses()).contains("CLIENT_ABORT");
            assertThat(r.request("second").cachedTokens()).isZero();
            assertThat(r.request("second").requestCauses()).contains("PREFIX_HIT_COLLAPSE");
            r.never("PREEMPTION", "RECOMPUTE");
        });
    }

    private static EventText cacheEventsLostForGood() {
        EventText s = new EventText("v39");
        s.engine("EngineConfigured", "blockSizeTokens", 16);
        for (int batch = 1; batch <= 14; batch++) {
            String request = "t" + batch;
            s.queued(request, 800);
            s.step(110 * MS, List.of(s.prompt(request, 800)), "kvBatchSequence", batch);
            if (batch < 5 || batch > 8) {
                List<Long> stored = hashes(39_500_000L + 1_000L * batch, 50);
                s.stored(batch, stored);
                if (batch % 4 == 0) {
                    // The same message again.
                    s.stored(batch, stored);
                }
            }
            s.decode(15, 20 * MS, request).finished(request, "stop");
        }
        return s.then(r -> {
            assertThat(r.causes()).doesNotContain("PREFIX_HIT_COLLAPSE");
            r.never("KV_PRESSURE", "PREEMPTION", "RECOMPUTE", "CONTEXT_STAIRCASE");
        });
    }

    private static EventText hostileIds() {
        EventText s = new EventText("v40");
        String evil = "\u001b[31m\"'<b>\n\u0000\\" + "y".repeat(150);
        String prefixOfIt = evil.substring(0, 40);
        for (String request : new String[] {evil, prefixOfIt}) {
            s.received("client", request).queued(request, 32).step(30 * MS, List.of(s.prompt(request, 32)));
            s.arrived("client", request, 0, 1, s.nowNanos + MS);
        }
        for (int i = 1; i < 40; i++) {
            s.step(about(20 * MS, i), s.decodes(evil, prefixOfIt));
            s.arrived("client", evil, i, 1, s.nowNanos + MS).arrived("client", prefixOfIt, i, 1, s.nowNanos + MS);
        }
        return s.then(r -> {
            assertThat(r.requests())
                    .extracting(RequestAnalysis::requestId)
                    .containsExactlyInAnyOrder(s.id(evil), s.id(prefixOfIt));
            assertThat(r.requests()).allSatisfy(request -> {
                assertThat(request.tokenCount()).isEqualTo(40);
                assertThat(request.ttftNanos()).isNotNull();
            });
        });
    }

    // ---- output path and engine

    private static EventText outputStallWithoutTheEnginesClock() {
        EventText s = new EventText("vE1");
        String[] all = new String[8];
        List<Map<String, Object>> prompts = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            all[i] = "r" + i;
            s.received("gateway", all[i]).queued(all[i], 40);
            prompts.add(s.prompt(all[i], 40));
        }
        s.step(70 * MS, prompts);
        long held = Long.MIN_VALUE;
        for (int i = 0; i < 150; i++) {
            if (i == 90) {
                held = s.nowNanos + 240 * MS;
            }
            for (int k = 0; k < 8; k++) {
                long at = s.nowNanos + MS + k * 15_000L;
                // Six of the eight are held by one busy process.
                s.arrived("gateway", all[k], i, 1, k < 6 ? Math.max(at, held + k * 15_000L) : at);
            }
            s.step(about(24 * MS, i), s.decodes(all));
        }
        return s.then(r -> {
            for (int k = 0; k < 6; k++) {
                assertThat(r.token("r" + k, 90).deliveryCause()).isEqualTo("OUTPUT_STALL");
            }
            assertThat(r.token("r6", 90).deliveryCause()).isNull();
            assertThat(r.token("r7", 90).deliveryCause()).isNull();
            for (String one : all) {
                r.quiet(one, 20, 149);
            }
            r.never("HOST_GAP", "HOST_PAUSE", "UNRESOLVED_STALL", "NETWORK", "CLIENT_SLOW");
        });
    }

    private static EventText idleEngineUndated() {
        EventText s = new EventText("vE2");
        s.epochMillisAtZero = null;
        s.queued("R", 50).step(70 * MS, List.of(s.prompt("R", 50))).decode(90, 23 * MS, "R");
        s.idle(480 * MS).decode(60, 23 * MS, "R");
        return s.then(r -> {
            r.slow("R", 91, 91, "HOST_GAP", null);
            assertThat(part(r.token("R", 91), Part.HOST_GAP)).isBetween(470 * MS, 490 * MS);
            assertThat(r.token("R", 91).producedEpochNanos()).isNull();
            r.never("KERNEL_SLOW", "STREAM_SYNC", "HOST_PAUSE");
        });
    }

    private static EventText seatsWereShort() {
        EventText s = new EventText("vS1");
        s.engine("EngineConfigured", "maxSequencesCount", 4, "kvTotalBlocksCount", 10_000, "blockSizeTokens", 16);
        String[] all = {"a", "b", "c", "d"};
        for (String one : all) {
            s.queued(one, 60).step(20 * MS, List.of(s.prompt(one, 60)));
        }
        s.decode(80, 15 * MS, all).queued("late", 60);
        s.ofSteps.put("runningCount", 4);
        s.ofSteps.put("waitingCount", 1);
        s.ofSteps.put("kvUsedBlocksCount", 1_100L);
        s.decode(90, 15 * MS, all).finished("a", "stop");
        s.step(22 * MS, s.with(s.decodes("b", "c", "d"), s.prompt("late", 60)))
                .decode(40, 15 * MS, "b", "c", "d", "late");
        return s.then(r -> {
            assertThat(r.token("late", 0).cause()).isEqualTo("SEAT_LIMIT");
            r.never("KV_PRESSURE", "PREEMPTION", "QUEUE_WAIT");
        });
    }

    private static EventText twoRanksOfOneEngine() {
        EventText s = new EventText("vD1");
        EventText one = s.beside("vD1", 1, "vD1/rank-1");
        s.queued("A", 60).step(20 * MS, List.of(s.prompt("A", 60))).decode(120, 16 * MS, "A");
        one.queued("B", 60).step(20 * MS, List.of(one.prompt("B", 60))).decode(100, 19 * MS, "B");
        long from = one.nowNanos;
        one.idle(600 * MS).decode(60, 19 * MS, "B");
        s.decode(150, 16 * MS, "A");
        return s.then(r -> {
            assertThat(r.request("A").tokenCount()).isEqualTo(271);
            assertThat(r.request("B").tokenCount()).isEqualTo(161);
            r.quiet("A", 20, 270).slow("B", 101, 101, "HOST_GAP", null).quiet("B", 103, 160);
            assertThat(from).isPositive();
            r.never("UNRESOLVED_STALL", "QUEUE_WAIT", "BATCH_GROWTH");
        });
    }

    private static EventText lateRecords() {
        EventText s = new EventText("vL1");
        s.queued("A", 32).step(30 * MS, List.of(s.prompt("A", 32))).decode(120, 20 * MS, "A");
        long from = s.nowNanos;
        s.step(420 * MS, s.decodes("A"));
        long end = s.nowNanos;
        s.decode(40, 20 * MS, "A");
        // The record of the pause is written when the collector wakes up, after steps that came later.
        s.put(
                "HostPaused",
                "vL1/host",
                "engineId",
                "vL1",
                "processRole",
                "engine",
                "pauseCause",
                "stop",
                "startNanos",
                from + 5 * MS,
                "endNanos",
                end - 12 * MS,
                "clockNanos",
                end + 300 * MS,
                "coarseEpochMillis",
                s.epochMillisAtZero + end / MS + 300);
        s.decode(40, 20 * MS, "A");
        return s.then(r -> {
            r.slow("A", 121, 121, "HOST_PAUSE", null, "engine");
            r.never("UNRESOLVED_STALL", "HOST_GAP", "KERNEL_SLOW");
        });
    }

    // ---- every further cause

    /** One more prompt waits beside three requests until the first of them ends; so many blocks are in use before and after. */
    static void lateBesideThree(EventText s, long usedBefore, long usedAfter) {
        String[] all = {"a", "b", "c"};
        for (String one : all) {
            s.queued(one, 4_000).step(200 * MS, List.of(s.prompt(one, 4_000)));
        }
        s.ofSteps.put("runningCount", 3);
        s.ofSteps.put("kvUsedBlocksCount", usedBefore);
        s.decode(80, 15 * MS, all).queued("late", 5_000);
        s.ofSteps.put("waitingCount", 1);
        s.decode(120, 15 * MS, all).finished("a", "stop");
        s.ofSteps.put("kvUsedBlocksCount", usedAfter);
        s.step(260 * MS, s.with(s.decodes("b", "c"), s.prompt("late", 5_000))).decode(40, 15 * MS, "b", "c", "late");
    }

    private static EventText blocksWereShort() {
        EventText s = new EventText("vK1");
        s.engine(
                "EngineConfigured",
                "kvTotalBlocksCount",
                1_000,
                "blockSizeTokens",
                16,
                "maxSequencesCount",
                64,
                "tokenBudgetTokens",
                8_192);
        lateBesideThree(s, 780L, 520L);
        return s.then(r -> {
            assertThat(r.token("late", 0).cause()).isEqualTo("KV_PRESSURE");
            r.never("SEAT_LIMIT", "PREEMPTION", "PREEMPTION_STORM");
        });
    }

    private static EventText queuedBehindNothing() {
        EventText s = new EventText("vQ1");
        s.engine("EngineConfigured", "kvTotalBlocksCount", 10_000, "blockSizeTokens", 16, "maxSequencesCount", 64);
        s.queued("a", 60)
                .step(20 * MS, List.of(s.prompt("a", 60)))
                .decode(80, 15 * MS, "a")
                .queued("late", 60);
        s.ofSteps.put("kvUsedBlocksCount", 700L);
        s.ofSteps.put("runningCount", 1);
        s.decode(70, 15 * MS, "a");
        s.step(22 * MS, s.with(s.decodes("a"), s.prompt("late", 60))).decode(40, 15 * MS, "a", "late");
        return s.then(r -> {
            assertThat(r.token("late", 0).cause()).isEqualTo("QUEUE_WAIT");
            r.never("KV_PRESSURE", "SEAT_LIMIT", "PREEMPTION", "HOST_GAP");
        });
    }

    private static EventText everyStepComputesSomethingAgain() {
        EventText s = new EventText("vP1");
        String[] all = {"a", "b", "c", "d", "e"};
        for (String one : all) {
            s.queued(one, 600).step(70 * MS, List.of(s.prompt(one, 600)));
        }
        s.decode(60, 17 * MS, all);
        for (int round = 0; round < 110; round++) {
            String victim = all[round % 5];
            List<String> others = new ArrayList<>(List.of(all));
            others.remove(victim);
            s.preempted(victim, others.get(0));
            s.decode(2, 17 * MS, others.toArray(String[]::new));
            s.step(
                    about(95 * MS, round),
                    s.with(s.decodes(others.toArray(String[]::new)), s.resumed(victim, 700, true)));
        }
        return s.then(r -> {
            assertThat(r.finding("PREEMPTION_STORM").engineId()).isEqualTo("vP1");
            assertThat(r.causes()).contains("PREEMPTION", "RECOMPUTE");
            r.never("PREFIX_HIT_COLLAPSE", "CONTEXT_STAIRCASE");
        });
    }

    private static EventText manyJoinAtOnce() {
        EventText s = new EventText("vB1");
        String[] many = new String[24];
        for (int i = 0; i < 24; i++) {
            many[i] = "r" + i;
            s.queued(many[i], 40);
        }
        // The engine shows what each size takes before the jump is judged.
        for (int count = 1; count <= 24; count++) {
            s.step(25 * MS, s.with(s.decodes(java.util.Arrays.copyOf(many, count - 1)), s.prompt(many[count - 1], 40)));
            s.decode(6, (8 + count / 2) * MS, java.util.Arrays.copyOf(many, count));
        }
        for (int i = 2; i < 24; i++) {
            s.finished(many[i], "stop");
        }
        s.decode(300, 9 * MS, "r0", "r1");
        String[] again = new String[22];
        List<Map<String, Object>> prompts = s.decodes("r0", "r1");
        for (int i = 0; i < 22; i++) {
            again[i] = "n" + i;
            s.queued(again[i], 40);
            prompts.add(s.prompt(again[i], 40));
        }
        s.step(60 * MS, prompts);
        List<String> all = new ArrayList<>(List.of("r0", "r1"));
        all.addAll(List.of(again));
        s.decode(60, 20 * MS, all.toArray(String[]::new));
        return s.then(r -> {
            r.mostly("r0", 469, 518, "BATCH_GROWTH");
            r.never("KV_PRESSURE", "PREEMPTION", "CONTEXT_STAIRCASE", "UNRESOLVED_STALL", "KERNEL_SLOW");
        });
    }

    private static EventText batchSwings() {
        EventText s = new EventText("vB2");
        String[] many = new String[20];
        for (int i = 0; i < 20; i++) {
            many[i] = "r" + i;
            s.queued(many[i], 40);
        }
        s.step(30 * MS, List.of(s.prompt("r0", 40), s.prompt("r1", 40), s.prompt("r2", 40), s.prompt("r3", 40)));
        List<Map<String, Object>> rest = s.decodes("r0", "r1", "r2", "r3");
        for (int i = 4; i < 20; i++) {
            rest.add(s.prompt(many[i], 40));
        }
        s.step(60 * MS, rest);
        for (int wave = 0; wave < 12; wave++) {
            // Sixteen of them are served every other time only.
            s.decode(16, 24 * MS, many).decode(16, 10 * MS, "r0", "r1", "r2", "r3");
        }
        return s.then(r -> {
            Finding swings = r.finding("BATCH_OSCILLATION");
            assertThat(swings.engineId()).isEqualTo("vB2");
            assertThat(swings.narrative()).contains("between 4 and 20 sequences");
            r.never("KV_PRESSURE", "PREEMPTION", "CONTEXT_STAIRCASE");
        });
    }

    /** Sixteen sequences whose context is read in every step: 19.48 ms and 0.747 ms per 1,000 tokens. */
    private static EventText slopeOfReadContext() {
        EventText s = new EventText("vG1");
        String[] all = new String[4];
        List<Map<String, Object>> prompts = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            all[i] = "r" + i;
            s.queued(all[i], 500);
            prompts.add(s.prompt(all[i], 500));
        }
        s.step(120 * MS, prompts);
        for (int i = 0; i < 1_500; i++) {
            long resident = 4L * (501 + i);
            s.step(about(19_480_000 + 747 * resident * 4, i), s.decodes(all));
        }
        return s.then(r -> {
            assertThat(r.request("r2").requestCauses()).contains("CONTEXT_GROWTH");
            r.never("CONTEXT_STAIRCASE", "KV_PRESSURE", "PREEMPTION", "KERNEL_SLOW", "UNRESOLVED_STALL");
        });
    }

    private static EventText flatWithContext() {
        EventText s = new EventText("vG2");
        s.queued("R", 500).step(60 * MS, List.of(s.prompt("R", 500)));
        for (int i = 0; i < 1_200; i++) {
            s.step(about(21 * MS + 71L * i, i), s.decodes("R"));
        }
        return s.then(r -> {
            assertThat(r.causes()).isEmpty();
        });
    }

    private static EventText stepsThatRiseWithEvictions() {
        EventText s = new EventText("vT1");
        s.engine("EngineConfigured", "blockSizeTokens", 16);
        s.queued("R", 200).step(60 * MS, List.of(s.prompt("R", 200)));
        long batch = 0;
        for (int i = 0; i < 1_200; i++) {
            int level = i / 300;
            if (i > 0 && i % 300 < 6 && i >= 300) {
                s.evicted(++batch, hashes(90_000 + 100L * i, 40));
            }
            s.step(about(16 * MS + level * 4 * MS, i), s.decodes("R"));
        }
        return s.then(r -> {
            assertThat(r.findings("CONTEXT_STAIRCASE")).isNotEmpty().allSatisfy(finding -> {
                assertThat(finding.evidence()).isNotEmpty();
                assertThat(finding.narrative()).contains(finding.evidence().get(0));
            });
            r.never("PREEMPTION", "KERNEL_FALLBACK");
        });
    }

    private static EventText oneShiftIsNoStaircase() {
        EventText s = new EventText("vT2");
        s.queued("R", 200).step(60 * MS, List.of(s.prompt("R", 200)));
        s.decode(500, 16 * MS, "R").decode(500, 21 * MS, "R");
        return s.then(r -> r.never("CONTEXT_STAIRCASE", "CONTEXT_GROWTH", "KV_PRESSURE", "THERMAL_CLOCK"));
    }

    private static EventText memoryWasLookedFor() {
        EventText s = new EventText("vA1");
        s.queued("R", 50).step(40 * MS, List.of(s.prompt("R", 50))).decode(90, 19 * MS, "R");
        long from = s.nowNanos;
        s.step(310 * MS, s.decodes("R"));
        s.put(
                "MemoryChanged",
                "vA1/gpu",
                "engineId",
                "vA1",
                "deviceId",
                "gpu-1",
                "change",
                "fail",
                "sizeBytes",
                1L << 30,
                "startNanos",
                from + 4 * MS,
                "endNanos",
                from + 6 * MS,
                "driverCode",
                2,
                "clockNanos",
                from + 6 * MS);
        s.put(
                "StreamStalled",
                "vA1/gpu",
                "engineId",
                "vA1",
                "deviceId",
                "gpu-1",
                "stallKind",
                "device-sync",
                "startNanos",
                from + 6 * MS,
                "endNanos",
                from + 290 * MS,
                "clockNanos",
                from + 290 * MS);
        s.decode(60, 19 * MS, "R");
        return s.then(r -> {
            r.slow("R", 91, 91, "ALLOC_STALL", null, "gpu-1");
            r.never("STREAM_SYNC", "HOST_GAP", "UNRESOLVED_STALL", "KERNEL_SLOW");
        });
    }

    private static EventText driverError() {
        EventText s = new EventText("vA2");
        s.queued("R", 50).step(40 * MS, List.of(s.prompt("R", 50))).decode(90, 19 * MS, "R");
        long from = s.nowNanos;
        s.step(500 * MS, s.decodes("R"));
        s.put(
                "StreamStalled",
                "vA2/gpu",
                "engineId",
                "vA2",
                "deviceId",
                "gpu-0",
                "stallKind",
                "stream-sync",
                "startNanos",
                from + 10 * MS,
                "endNanos",
                from + 490 * MS,
                "driverCode",
                719,
                "clockNanos",
                from + 490 * MS);
        s.decode(60, 19 * MS, "R");
        return s.then(r -> {
            assertThat(r.token("R", 91).cause()).isEqualTo("DRIVER_ERROR");
            assertThat(r.token("R", 91).chain().toString()).contains("719");
            r.never("STREAM_SYNC", "HOST_GAP", "UNRESOLVED_STALL");
        });
    }

    private static EventText oneRankCameLate() {
        EventText s = new EventText("vA3");
        s.queued("R", 50).step(40 * MS, List.of(s.prompt("R", 50))).decode(90, 19 * MS, "R");
        long from = s.nowNanos;
        s.step(260 * MS, s.decodes("R"));
        s.put(
                "StreamStalled",
                "vA3/gpu",
                "engineId",
                "vA3",
                "deviceId",
                "gpu-0",
                "stallKind",
                "collective",
                "startNanos",
                from + 8 * MS,
                "endNanos",
                from + 250 * MS,
                "lateRank",
                5,
                "clockNanos",
                from + 250 * MS);
        s.decode(60, 19 * MS, "R");
        return s.then(r -> {
            r.slow("R", 91, 91, "COLLECTIVE_WAIT", null, "rank 5");
            r.never("STREAM_SYNC", "HOST_GAP", "UNRESOLVED_STALL", "KERNEL_SLOW");
        });
    }

    private static EventText oneKernelWasSlow() {
        EventText s = new EventText("vA4");
        s.queued("R", 64).step(30 * MS, List.of(s.prompt("R", 64)));
        for (int i = 0; i < 120; i++) {
            boolean slow = i == 90;
            long start = s.nowNanos + MS;
            s.step(about(slow ? 44 * MS : 14 * MS, i), s.decodes("R"));
            kernel(s, "cublas_gemm", "gemm", start, (slow ? 38 : 8) * MS);
            kernel(s, "flash_attn", "attention", start + 38 * MS, 3 * MS);
        }
        return s.then(r -> {
            assertThat(r.token("R", 91).cause()).isEqualTo("KERNEL_SLOW");
            r.never("THERMAL_CLOCK", "KERNEL_FALLBACK", "HOST_GAP", "STREAM_SYNC");
        });
    }

    private static EventText threadsWithoutACore() {
        EventText s = new EventText("vH1");
        s.queued("R", 64).step(30 * MS, List.of(s.prompt("R", 64)));
        long onCore = 0;
        long waits = 0;
        for (int i = 0; i < 200; i++) {
            boolean starved = i == 150;
            long nanos = about(starved ? 95 * MS : 15 * MS, i);
            long start = s.nowNanos;
            s.step(nanos, s.decodes("R"));
            waits += starved ? 80 * MS : MS / 10;
            onCore += nanos - (starved ? 80 * MS : MS / 10);
            for (String role : new String[] {"engine", "worker"}) {
                s.put(
                        "HostSampled",
                        "vH1/host",
                        "hostId",
                        "box",
                        "engineId",
                        "vH1",
                        "processRole",
                        role,
                        "threadRole",
                        "main",
                        "onCoreNanos",
                        onCore,
                        "coreWaitNanos",
                        role.equals("worker") ? waits : MS / 10 * i,
                        "clockNanos",
                        s.nowNanos);
            }
            assertThat(start).isPositive();
        }
        return s.then(r -> {
            assertThat(r.token("R", 151).cause()).isEqualTo("HOST_CONTENTION");
            r.never("HOST_PAUSE", "HOST_GAP", "UNRESOLVED_STALL", "KERNEL_SLOW");
        });
    }

    private static EventText secondStartWasSlow() {
        EventText s = new EventText("vM1");
        for (int start = 0; start < 2; start++) {
            s.collectorId = "vM1/start-" + start;
            for (int shard = 0; shard < 4; shard++) {
                long from = s.nowNanos;
                s.idle((start == 1 && shard == 2 ? 40 : 3) * SECOND);
                s.engine(
                        "ShardLoaded",
                        "shard",
                        "model-" + shard,
                        "deviceId",
                        "gpu-" + shard,
                        "startNanos",
                        from,
                        "endNanos",
                        s.nowNanos);
            }
            String request = "R" + start;
            s.stepId = 0;
            s.queued(request, 40).step(30 * MS, List.of(s.prompt(request, 40))).decode(30, 20 * MS, request);
            s.finished(request, "stop").idle(60 * SECOND);
        }
        return s.then(r -> {
            Finding slow = r.finding("MODEL_LOAD_SLOW");
            assertThat(slow.narrative()).contains("model-2", "gpu-2", "40.0 s instead of 3.0 s");
            r.never("HOST_GAP", "UNRESOLVED_STALL", "HOST_PAUSE");
        });
    }

    private static EventText tokensOfChunksAlone() {
        EventText s = new EventText("vO1");
        s.received("client", "R").idle(400 * MS);
        for (int i = 0; i < 60; i++) {
            s.idle(about(i == 40 ? 900 * MS : 18 * MS, i)).arrived("client", "R", 2 * i, 2, s.nowNanos);
        }
        s.completed("client", "R", "complete", s.nowNanos + MS);
        return s.then(r -> {
            assertThat(r.request("R").tokenCount()).isEqualTo(120);
            assertThat(r.request("R").missingLayers()).contains("steps");
            assertThat(r.tokens())
                    .allSatisfy(token -> assertThat(token.gapBasis()).isEqualTo("delivered"));
            // Nothing says why: no cause of an engine may be drawn from it.
            r.never("HOST_GAP", "QUEUE_WAIT", "PREFILL_INTERFERENCE", "BATCH_GROWTH", "GATEWAY_BUFFERING");
        });
    }

    /** A recorder that attached to a running engine: sequences are in the middle of their output. */
    private static EventText longestWithoutTheFirstSteps() {
        EventText s = new EventText("vO2");
        s.stepId = 900_000;
        s.starts = false;
        for (String one : new String[] {"A", "B"}) {
            s.row(one, "decode", 5_000, 700);
        }
        s.decode(120, 20 * MS, "A", "B");
        s.step(320 * MS, s.decodes("A", "B")).decode(60, 20 * MS, "A", "B").finished("A", "stop");
        return s.then(r -> {
            assertThat(r.token("A", 820).cause()).isEqualTo("UNRESOLVED_STALL");
            r.never("HOST_GAP", "PREEMPTION", "QUEUE_WAIT", "CONTEXT_GROWTH");
        });
    }

    private static EventText everyOtherStepComputesAPrompt() {
        EventText s = new EventText("vF1");
        s.queued("A", 64).step(30 * MS, List.of(s.prompt("A", 64))).decode(40, 11 * MS, "A");
        for (int i = 0; i < 60; i++) {
            String other = "p" + i;
            s.queued(other, 3_000);
            s.step(about(178 * MS, i), s.with(s.decodes("A"), s.prompt(other, 3_000)))
                    .finished(other, "length")
                    .decode(1, 11 * MS, "A");
        }
        return s.then(r -> {
            for (int i = 0; i < 60; i++) {
                r.slow("A", 41 + 2 * i, 41 + 2 * i, "PREFILL_INTERFERENCE", "p" + i);
            }
            // None costs 200 ms, together they cost ten seconds: each is as bad as all that its cause did.
            assertThat(r.findings("PREFILL_INTERFERENCE"))
                    .hasSizeLessThan(10)
                    .extracting(Finding::severity)
                    .containsOnly("critical");
            r.never("CONTEXT_STAIRCASE", "BATCH_OSCILLATION", "KV_PRESSURE", "UNRESOLVED_STALL");
        });
    }

    /** The engine dies with a request in it, and its client sends it again under the same id when the engine is back. */
    private static EventText restartedInMidRequestAndRetried() {
        EventText s = new EventText("vF2");
        for (int start = 0; start < 2; start++) {
            s.collectorEpoch = 1 + start;
            s.stepId = 0;
            s.received("client", "R").queued("R", 60).step(30 * MS, List.of(s.prompt("R", 60)));
            s.arrivesAnew("client", "R").arrived("client", "R", 0, 1, s.nowNanos + MS);
            for (int i = 1; i < (start == 0 ? 50 : 70); i++) {
                s.step(about(20 * MS, i), s.decodes("R")).arrived("client", "R", i, 1, s.nowNanos + MS);
            }
            s.completed("client", "R", start == 0 ? "failed" : "complete", s.nowNanos + 100 * MS);
            s.idle(20 * SECOND);
        }
        return s.then(r -> {
            assertThat(r.requests())
                    .extracting(
                            RequestAnalysis::lifetime,
                            RequestAnalysis::tokenCount,
                            RequestAnalysis::engines,
                            RequestAnalysis::endReason,
                            RequestAnalysis::ttftNanos)
                    .containsExactlyInAnyOrder(
                            tuple(0, 50L, List.of("vF2"), "error", 31 * MS),
                            tuple(1, 70L, List.of("vF2"), "unknown", 31 * MS));
            assertThat(r.requests()).extracting(RequestAnalysis::droppedTokens).containsOnlyNulls();
            r.never("HOST_GAP", "UNRESOLVED_STALL", "PREEMPTION", "OUTPUT_STALL");
        });
    }

    /** An eager step leaves the device idle between its kernels: that is what eager costs, not a gap of the host. */
    private static EventText eagerFromOneStepOnWithAnIdleDevice() {
        EventText s = new EventText("vF4");
        s.queued("R", 64).step(30 * MS, List.of(s.prompt("R", 64)), "graphMode", "eager");
        for (int i = 0; i < 260; i++) {
            boolean eager = i >= 200;
            long start = s.nowNanos + MS;
            s.step(about(eager ? 26 * MS : 12 * MS, i), s.decodes("R"), "graphMode", eager ? "eager" : "full");
            kernel(s, "cublas_gemm", "gemm", start, 7 * MS);
            kernel(s, "flash_attn", "attention", start + (eager ? 15 : 7) * MS, 3 * MS);
        }
        return s.then(r -> {
            r.quiet("R", 20, 200).slow("R", 201, 259, "KERNEL_FALLBACK", null);
            r.never("HOST_GAP", "KERNEL_SLOW", "UNRESOLVED_STALL");
        });
    }

    /** Batch and mode change at once, and until then only prompts ran eagerly: what that costs is no matter of the batch. */
    private static EventText ceilingCrossedByWhoJoinsForTwentySteps() {
        EventText s = new EventText("vF6");
        s.engine("EngineConfigured", "maxGraphBatchCount", 32);
        String[] few = new String[24];
        String[] all = new String[40];
        List<Map<String, Object>> first = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            all[i] = "r" + i;
            if (i < 24) {
                few[i] = all[i];
                s.queued(all[i], 20);
                first.add(s.prompt(all[i], 20));
            }
        }
        s.step(60 * MS, first, "graphMode", "eager");
        for (int i = 0; i < 200; i++) {
            s.step(about(5 * MS, i), s.decodes(few), "graphMode", "full", "paddedBatchCount", 24);
        }
        List<Map<String, Object>> joining = s.decodes(few);
        for (int i = 24; i < 40; i++) {
            s.queued(all[i], 20);
            joining.add(s.prompt(all[i], 20));
        }
        s.step(60 * MS, joining, "graphMode", "eager");
        for (int i = 0; i < 20; i++) {
            s.step(about(21 * MS, i), s.decodes(all), "graphMode", "eager");
        }
        for (int i = 24; i < 40; i++) {
            s.finished(all[i], "stop");
        }
        for (int i = 0; i < 100; i++) {
            s.step(about(5 * MS, i), s.decodes(few), "graphMode", "full", "paddedBatchCount", 24);
        }
        return s.then(r -> {
            r.slow("r3", 202, 221, "KERNEL_FALLBACK", null).quiet("r3", 20, 200).quiet("r3", 223, 320);
            r.never("BATCH_GROWTH", "CONTEXT_GROWTH", "HOST_GAP", "KV_PRESSURE");
        });
    }

    private static EventText leftOutAndNobodyKnowsTheBudget() {
        EventText s = new EventText("vF5");
        String[] lanes = {"a", "b", "c", "d"};
        for (String lane : lanes) {
            s.queued(lane, 40).step(15 * MS, List.of(s.prompt(lane, 40)));
        }
        s.decode(100, 18 * MS, lanes);
        for (int i = 0; i < 40; i++) {
            s.step(about(18 * MS, i), s.decodes("a", "b", "c"));
        }
        s.decode(40, 18 * MS, lanes);
        return s.then(r -> {
            r.slow("d", 101, 101, "UNRESOLVED_STALL", null);
            assertThat(r.token("d", 101).chain())
                    .anySatisfy(sentence -> assertThat(sentence).contains("left out of steps for 719.5 ms"));
            r.never("TOKEN_BUDGET_STARVATION", "DECODE_STARVED_BY_PREFILL", "PREEMPTION", "HOST_GAP");
        });
    }

    // ---- the chain

    /** The batch swings, a long prompt joins late, blocks are evicted in bulk, another attention kernel runs, a first token is late. */
    private static EventText firstTokenOverItsLimit() {
        EventText s = new EventText("vC1");
        s.engine("EngineConfigured", "blockSizeTokens", 16);
        s.queued("a", 40).queued("b", 40);
        attending(s, 25 * MS, List.of(s.prompt("a", 40), s.prompt("b", 40)), "flash_attn");
        for (int i = 0; i < 60; i++) {
            attending(s, about(12 * MS, i), s.decodes("a", "b"), "flash_attn");
        }
        for (int wave = 0; wave < 3; wave++) {
            String[] all = {"a", "b", "w" + wave + "0", "w" + wave + "1", "w" + wave + "2", "w" + wave + "3"};
            for (int i = 2; i < 6; i++) {
                s.queued(all[i], 40);
                List<Map<String, Object>> rows = s.decodes(java.util.Arrays.copyOf(all, i));
                attending(s, 20 * MS, s.with(rows, s.prompt(all[i], 40)), "flash_attn");
            }
            for (int i = 0; i < 4; i++) {
                attending(s, about(13 * MS, i), s.decodes(all), "flash_attn");
            }
            for (int i = 2; i < 6; i++) {
                s.finished(all[i], "stop");
            }
            for (int i = 0; i < 4; i++) {
                attending(s, about(12 * MS, i), s.decodes("a", "b"), "flash_attn");
            }
        }
        s.queued("jump", 6_000);
        for (int i = 0; i < 6; i++) {
            attending(s, about(12 * MS, i), s.decodes("a", "b"), "flash_attn");
        }
        attending(s, 300 * MS, s.with(s.decodes("a", "b"), s.prompt("jump", 6_000)), "flash_attn");
        s.evicted(1, hashes(500, 120));
        long sent = s.nowNanos;
        s.received("client", "victim").queued("victim", 40);
        attending(s, 2_600 * MS, s.with(s.decodes("a", "b", "jump"), s.prompt("victim", 40)), "naive_attention");
        s.arrived("client", "victim", 0, 1, s.nowNanos + MS);
        for (int i = 1; i < 30; i++) {
            attending(s, about(14 * MS, i), s.decodes("a", "b", "jump", "victim"), "flash_attn");
            s.arrived("client", "victim", i, 1, s.nowNanos + MS);
        }
        return s.then(r -> {
            assertThat(r.request("victim").ttftNanos()).isGreaterThan(2 * SECOND);
            TokenAnalysis first = r.token("victim", 0);
            assertThat(first.cause()).as(first.chain().toString()).isEqualTo("KERNEL_FALLBACK");
            String chain = String.join("\n", first.chain());
            assertThat(chain)
                    .containsSubsequence(
                            "ran kernel naive_attention where it usually runs flash_attn",
                            "kernel flash_attn gave way to naive_attention",
                            "120 cached KV blocks were evicted",
                            "vC1-jump joined",
                            "the batch had swung between 2 and 6 sequences");
            assertThat(first.chain())
                    .allSatisfy(sentence -> assertThat(sentence).endsWith("]"));
            assertThat(sent).isPositive();
        });
    }

    /** A step and the records of its kernels: the attention takes what the rest does not. */
    private static void attending(EventText s, long nanos, List<Map<String, Object>> rows, String attention) {
        long start = s.nowNanos;
        s.step(nanos, rows);
        kernel(s, "gemm", "gemm", start, 5 * MS);
        kernel(s, attention, "attention", start + 5 * MS, nanos - 6 * MS);
    }
}
