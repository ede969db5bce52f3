package io.tokenstair.job.cases;

import static io.tokenstair.job.cases.CaseResults.part;
import static io.tokenstair.job.cases.EventText.MS;
import static io.tokenstair.job.cases.EventText.SECOND;
import static io.tokenstair.job.cases.EventText.about;
import static io.tokenstair.job.cases.EventText.hashes;
import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.cause.Part;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * Stories in which the wrong cause is tempting: a full cache and nobody preempted, records of another engine, two causes at once, a cause that
 * ends in mid-stream, layers that are missing. Written as {@link OperatorVariants} are.
 */
final class OperatorStories {
    private OperatorStories() {}

    static List<EventText> all() {
        return List.of(
                promptBesideAFullCache(),
                queuedBesideFreeSpaceOnSglang(),
                promptOfAnotherEngine(),
                hotDeviceWhoseClockNobodyRead(),
                acceptanceFallsToOne(),
                gatewayGroupsThatGrow(),
                clientSlowAndNetworkSlow(),
                collectiveWithoutALateRank(),
                longerTurnsOfOneSession(),
                anotherPromptIsNoCollapse(),
                cacheClearedByHand(),
                moreUrgentOnesGoFirst(),
                adapterLoadedBetweenSteps(),
                blocksStoredInASlowStep(),
                transferGivenUp(),
                preemptedBeforeItsFirstToken(),
                engineBackOnAClockThatBeganAnew(),
                emptyAnswerBesideATalker(),
                retriedOnAnotherEngine(),
                interferingPromptAborted(),
                pauseInAStepWithAPrompt(),
                pauseOfTheApiServer(),
                pauseOfTheNeighbour(),
                compiledByTheOtherRank(),
                allocationThatSucceeded(),
                allocatorRetried(),
                seatsAndBlocksShort(),
                batchSwingsOnAFlatEngine(),
                threePreemptionsFarApart(),
                oneSlotOfLlamaCpp(),
                slowTokenOfAPair(),
                tokensSentInFours(),
                gatewayAloneHoldsGroups(),
                clocksThatNobodyJoined(),
                evictionsThatNobodyNeeded(),
                lowClockFromTheStart(),
                prefillEngineWasBusy());
    }

    private static EventText promptBesideAFullCache() {
        EventText s = new EventText("w01");
        s.engine("EngineConfigured", "kvTotalBlocksCount", 2_000, "blockSizeTokens", 16, "maxSequencesCount", 64);
        s.ofSteps.put("kvUsedBlocksCount", 1_994L);
        s.ofSteps.put("waitingCount", 0);
        s.queued("A", 60).queued("C", 60);
        s.step(20 * MS, List.of(s.prompt("A", 60), s.prompt("C", 60))).decode(120, 11 * MS, "A", "C");
        s.queued("B", 8_192);
        for (int i = 0; i < 16; i++) {
            s.step(
                    about(70 * MS, i),
                    s.with(
                            s.decodes("A", "C"),
                            i == 0
                                    ? s.firstChunk("B", 512)
                                    : i == 15 ? s.row("B", "prefill", 512, 1) : s.chunk("B", 512)));
        }
        s.decode(60, 12 * MS, "A", "B", "C");
        return s.then(r -> {
            r.slow("A", 121, 136, "PREFILL_INTERFERENCE", "B").quiet("A", 20, 120);
            r.never("KV_PRESSURE", "PREEMPTION", "PREEMPTION_STORM", "CONTEXT_STAIRCASE", "QUEUE_WAIT");
        });
    }

    private static EventText queuedBesideFreeSpaceOnSglang() {
        EventText s = new EventText("w02");
        s.starts = false;
        s.queued("A", 60).step(20 * MS, List.of(s.prompt("A", 60))).decode(60, 14 * MS, "A");
        s.queued("late", 70);
        for (int i = 0; i < 60; i++) {
            s.metric("sglang:num_queue_reqs", 1).metric("sglang:token_usage", 0.08);
            s.step(about(14 * MS, i), s.decodes("A"));
        }
        s.step(22 * MS, s.with(s.decodes("A"), s.prompt("late", 70))).decode(40, 14 * MS, "A", "late");
        return s.then(r -> {
            assertThat(r.token("late", 0).cause()).isEqualTo("QUEUE_WAIT");
            r.quiet("A", 20, 120).never("KV_PRESSURE", "SEAT_LIMIT", "PREEMPTION", "TOKEN_BUDGET_STARVATION");
        });
    }

    private static EventText promptOfAnotherEngine() {
        EventText s = new EventText("w03");
        EventText other = s.beside("w03/other", 0, "w03/other");
        s.queued("A", 50).step(20 * MS, List.of(s.prompt("A", 50))).decode(150, 12 * MS, "A");
        other.queued("Z", 50).step(20 * MS, List.of(other.prompt("Z", 50))).decode(150, 12 * MS, "Z");
        // One engine computes a long prompt; the other one has a slow step at that time, and nobody knows why.
        other.queued("L", 9_000).step(900 * MS, other.with(other.decodes("Z"), other.prompt("L", 9_000)));
        s.step(870 * MS, s.decodes("A")).decode(80, 12 * MS, "A");
        other.decode(80, 12 * MS, "Z", "L");
        return s.then(r -> {
            r.slow("A", 151, 151, "UNRESOLVED_STALL", null).slow("Z", 151, 151, "PREFILL_INTERFERENCE", "L");
            r.never("KV_PRESSURE", "HOST_PAUSE", "STREAM_SYNC", "DECODE_STARVED_BY_PREFILL");
        });
    }

    private static EventText hotDeviceWhoseClockNobodyRead() {
        EventText s = new EventText("w04");
        s.queued("R", 40).step(60 * MS, List.of(s.prompt("R", 40)));
        for (int i = 0; i < 240; i++) {
            boolean hot = i >= 160;
            s.put(
                    "DeviceSampled",
                    "w04/gpu",
                    "engineId",
                    "w04",
                    "deviceId",
                    "gpu-0",
                    "temperatureMillicelsius",
                    hot ? 91_000 : 64_000,
                    "powerMilliwatts",
                    hot ? 310_000 : 400_000,
                    "clockNanos",
                    s.nowNanos);
            s.step(about(hot ? 60 * MS : 40 * MS, i), s.decodes("R"));
        }
        return s.then(r -> {
            assertThat(r.token("R", 165).cause()).isEqualTo("UNRESOLVED_STALL");
            r.never("THERMAL_CLOCK", "KERNEL_SLOW", "BATCH_GROWTH", "CONTEXT_GROWTH", "CONTEXT_STAIRCASE");
        });
    }

    private static EventText acceptanceFallsToOne() {
        EventText s = new EventText("w05");
        s.received("client", "R").queued("R", 32).step(30 * MS, List.of(s.prompt("R", 32)));
        s.arrived("client", "R", 0, 1, s.nowNanos + MS);
        int next = 1;
        for (int i = 0; i < 220; i++) {
            int accepted = i >= 120 && i < 160 ? 1 : 4;
            s.step(about(14 * MS, i), List.of(s.row("R", "decode", accepted, accepted)));
            s.arrived("client", "R", next, accepted, s.nowNanos + MS);
            next += accepted;
        }
        int count = next;
        return s.then(r -> {
            assertThat(r.request("R").tokenCount()).isEqualTo(count);
            assertThat(r.request("R").requestCauses()).contains("MULTI_TOKEN_CHUNK");
            r.quiet("R", 1, count)
                    .never("UNRESOLVED_STALL", "CONTEXT_STAIRCASE", "OUTPUT_STALL", "GATEWAY_BUFFERING", "KERNEL_SLOW");
        });
    }

    private static EventText gatewayGroupsThatGrow() {
        EventText s = new EventText("w06");
        s.received("client", "R").queued("R", 32).step(40 * MS, List.of(s.prompt("R", 32)));
        List<Long> ends = new ArrayList<>(List.of(s.nowNanos));
        for (int i = 1; i < 480; i++) {
            s.step(about(40 * MS, i), s.decodes("R"));
            ends.add(s.nowNanos);
        }
        // Groups of 8, then 16, then 32: what arrives rises in levels, what is made does not.
        int at = 0;
        while (at < 480) {
            int group = at < 160 ? 8 : at < 320 ? 16 : 32;
            int last = Math.min(479, at + group - 1);
            for (int i = at; i <= last; i++) {
                s.arrived("client", "R", i, 1, ends.get(last) + 3 * MS + (i - at) * 20_000L);
            }
            at = last + 1;
        }
        s.completed("client", "R", "complete", s.nowNanos + 20 * MS);
        return s.then(r -> {
            assertThat(r.finding("GATEWAY_BUFFERING").culpritRequestId()).isEqualTo("gateway");
            r.quiet("R", 20, 479)
                    .never(
                            "CONTEXT_STAIRCASE",
                            "OUTPUT_STALL",
                            "NETWORK",
                            "CLIENT_SLOW",
                            "HOST_GAP",
                            "UNRESOLVED_STALL");
        });
    }

    private static EventText clientSlowAndNetworkSlow() {
        EventText s = new EventText("w08");
        for (String one : new String[] {"busy", "far"}) {
            s.received("client", one).received("gateway", one).queued(one, 32);
        }
        s.step(40 * MS, List.of(s.prompt("busy", 32), s.prompt("far", 32)));
        for (int i = 0; i < 140; i++) {
            long at = s.nowNanos + MS;
            long blocked = i == 80 ? 210 * MS : 30_000L;
            s.arrived(
                    "gateway",
                    "busy",
                    i,
                    1,
                    at,
                    "writeStartNanos",
                    at + 20_000,
                    "writeEndNanos",
                    at + 20_000 + blocked);
            s.arrived("client", "busy", i, 1, at + 20_000 + blocked + MS);
            s.arrived("gateway", "far", i, 1, at, "writeStartNanos", at + 20_000, "writeEndNanos", at + 50_000);
            s.arrived("client", "far", i, 1, at + 50_000 + (i == 80 ? 205 * MS : 4 * MS));
            s.step(about(260 * MS, i), s.decodes("busy", "far"));
        }
        return s.then(r -> {
            assertThat(r.token("busy", 80).deliveryCause()).isEqualTo("CLIENT_SLOW");
            assertThat(r.token("far", 80).deliveryCause()).isEqualTo("NETWORK");
            assertThat(r.requests())
                    .allSatisfy(request -> assertThat(request.requestCauses()).doesNotContain("GATEWAY_BUFFERING"));
            r.quiet("busy", 20, 139).quiet("far", 20, 139).never("OUTPUT_STALL", "GATEWAY_BUFFERING", "HOST_GAP");
        });
    }

    private static EventText collectiveWithoutALateRank() {
        EventText s = new EventText("w09");
        s.engine("EngineConfigured", "tensorParallelCount", 8);
        s.queued("R", 50).step(40 * MS, List.of(s.prompt("R", 50))).decode(90, 19 * MS, "R");
        for (int i = 0; i < 3; i++) {
            long from = s.nowNanos;
            s.step(150 * MS, s.decodes("R"));
            s.put(
                    "StreamStalled",
                    "w09/gpu",
                    "engineId",
                    "w09",
                    "deviceId",
                    "gpu-2",
                    "stallKind",
                    "collective",
                    "startNanos",
                    from + 6 * MS,
                    "endNanos",
                    from + 140 * MS,
                    "clockNanos",
                    from + 140 * MS);
            s.decode(30, 19 * MS, "R");
        }
        return s.then(r -> {
            for (int slow : new int[] {91, 122, 153}) {
                assertThat(r.token("R", slow).cause()).isEqualTo("COLLECTIVE_WAIT");
                assertThat(r.token("R", slow).culpritRequestId()).isNull();
            }
            r.never("STREAM_SYNC", "KERNEL_SLOW", "UNRESOLVED_STALL", "BATCH_GROWTH");
        });
    }

    /** Every turn is longer and finds what the turn before left: the first tokens come later, and nothing was lost. */
    private static EventText longerTurnsOfOneSession() {
        EventText s = new EventText("w10");
        s.engine("EngineConfigured", "blockSizeTokens", 16);
        int cached = 0;
        for (int turn = 0; turn < 9; turn++) {
            String request = "t" + turn;
            int prompt = 1_600 * (turn + 1);
            s.queued(request, prompt);
            s.step(
                    (120 + 15L * turn) * MS,
                    List.of(s.row(request, "prefill", prompt - cached, 1, "cachedTokens", cached)),
                    "kvBatchSequence",
                    turn + 1);
            s.stored(turn + 1, hashes(600_000 + cached / 16, (prompt - cached) / 16));
            cached = prompt;
            s.decode(40, (18 + turn) * MS, request).finished(request, "stop").idle(4 * SECOND);
        }
        return s.then(r -> r.never("PREFIX_HIT_COLLAPSE", "KV_PRESSURE", "PREEMPTION", "RECOMPUTE", "QUEUE_WAIT"));
    }

    private static EventText anotherPromptIsNoCollapse() {
        EventText s = new EventText("w11");
        s.engine("EngineConfigured", "blockSizeTokens", 16);
        for (int turn = 0; turn < 8; turn++) {
            String request = "t" + turn;
            // Its client changes the system prompt from the fifth turn on: other blocks, none of which had been there.
            boolean first = turn == 0 || turn == 4;
            s.queued(request, 1_632);
            s.step(
                    first ? 200 * MS : 40 * MS,
                    List.of(s.row(request, "prefill", first ? 1_632 : 32, 1, "cachedTokens", first ? 0 : 1_600)),
                    "kvBatchSequence",
                    turn + 1);
            if (first) {
                s.stored(turn + 1, hashes(700_000 + 1_000L * turn, 102));
            }
            s.decode(40, 18 * MS, request).finished(request, "stop");
        }
        return s.then(r -> r.never("PREFIX_HIT_COLLAPSE", "KV_PRESSURE", "PREEMPTION", "RECOMPUTE"));
    }

    private static EventText cacheClearedByHand() {
        EventText s = new EventText("w11c");
        s.engine("EngineConfigured", "blockSizeTokens", 16);
        List<Long> prefix = hashes(710_000, 100);
        long batch = 0;
        for (int turn = 0; turn < 7; turn++) {
            String request = "t" + turn;
            boolean miss = turn == 0 || turn == 5;
            if (turn == 5) {
                s.engine("KvBlocksEvicted", "batchSequence", ++batch, "eventIndex", 0, "allCleared", true);
            }
            s.queued(request, 1_632);
            s.step(
                    miss ? 200 * MS : 40 * MS,
                    List.of(s.row(request, "prefill", miss ? 1_632 : 32, 1, "cachedTokens", miss ? 0 : 1_600)),
                    "kvBatchSequence",
                    ++batch);
            if (miss) {
                s.stored(batch, prefix);
            }
            s.decode(40, 18 * MS, request).finished(request, "stop");
        }
        return s.then(r -> {
            assertThat(r.findings("PREFIX_HIT_COLLAPSE"))
                    .extracting(Finding::requestId)
                    .containsExactly("w11c-t5");
            r.never("KV_PRESSURE", "PREEMPTION", "RECOMPUTE");
        });
    }

    private static EventText moreUrgentOnesGoFirst() {
        EventText s = new EventText("w12");
        s.engine("EngineConfigured", "maxSequencesCount", 64, "kvTotalBlocksCount", 50_000, "blockSizeTokens", 16);
        s.ofSteps.put("kvUsedBlocksCount", 900L);
        s.queued("A", 60, "priority", 0)
                .step(20 * MS, List.of(s.prompt("A", 60)))
                .decode(60, 14 * MS, "A")
                .queued("low", 2_000, "priority", 9);
        for (int i = 0; i < 8; i++) {
            String urgent = "u" + i;
            s.queued(urgent, 2_000, "priority", 0);
            s.step(about(90 * MS, i), s.with(s.decodes("A"), s.prompt(urgent, 2_000)), "waitingCount", 1);
            s.finished(urgent, "length");
        }
        s.step(90 * MS, s.with(s.decodes("A"), s.prompt("low", 2_000)), "waitingCount", 0);
        s.decode(40, 14 * MS, "A", "low");
        return s.then(r -> {
            assertThat(r.token("low", 0).cause()).isEqualTo("QUEUE_WAIT");
            assertThat(r.token("low", 0).culpritRequestId()).startsWith("w12-u");
            r.slow("A", 61, 61, "PREFILL_INTERFERENCE", "u0");
            r.never("KV_PRESSURE", "SEAT_LIMIT", "PREEMPTED_THEN_OVERTAKEN", "PREEMPTION");
        });
    }

    private static EventText adapterLoadedBetweenSteps() {
        EventText s = new EventText("w13");
        s.queued("A", 50).step(20 * MS, List.of(s.prompt("A", 50))).decode(100, 16 * MS, "A");
        long from = s.nowNanos;
        s.idle(600 * MS);
        s.put(
                "HostPaused",
                "w13/host",
                "engineId",
                "w13",
                "processRole",
                "engine",
                "pauseCause",
                "lora-load",
                "startNanos",
                from + MS,
                "endNanos",
                s.nowNanos - MS,
                "clockNanos",
                s.nowNanos);
        s.decode(60, 16 * MS, "A").idle(550 * MS).decode(60, 16 * MS, "A");
        return s.then(r -> {
            r.slow("A", 101, 101, "HOST_PAUSE", null, "engine").slow("A", 161, 161, "HOST_GAP", null);
            assertThat(r.token("A", 101).chain().toString()).contains("lora-load");
            assertThat(r.token("A", 161).chain().toString()).doesNotContain("lora-load");
            r.never("JIT_COMPILE", "KV_OFFLOAD", "MODEL_LOAD_SLOW", "ALLOC_STALL", "QUEUE_WAIT");
        });
    }

    /** Blocks of another request go to the slower tier while a step is slow: nobody waited for them. */
    private static EventText blocksStoredInASlowStep() {
        EventText s = new EventText("w14");
        s.queued("A", 50).queued("B", 900).step(60 * MS, List.of(s.prompt("A", 50), s.prompt("B", 900)));
        s.decode(100, 16 * MS, "A", "B").finished("B", "stop");
        s.decode(40, 16 * MS, "A");
        long from = s.nowNanos;
        s.step(240 * MS, s.decodes("A"));
        s.engine(
                "KvTransferred",
                "engineRequestId",
                s.id("B"),
                "transferKind",
                "offload",
                "direction",
                "store",
                "startNanos",
                from + 2 * MS,
                "endNanos",
                s.nowNanos - 2 * MS,
                "peer",
                "cpu");
        s.decode(60, 16 * MS, "A");
        return s.then(r -> {
            r.slow("A", 141, 141, "UNRESOLVED_STALL", null);
            r.never("KV_OFFLOAD", "REMOTE_KV_ADMISSION", "KV_PRESSURE", "HOST_GAP");
        });
    }

    private static EventText transferGivenUp() {
        EventText s = new EventText("w15");
        s.queued("A", 50).step(20 * MS, List.of(s.prompt("A", 50))).decode(80, 13 * MS, "A");
        s.queued("w", 3_000);
        long from = s.nowNanos;
        for (int i = 0; i < 150; i++) {
            if (i % 20 == 10 && i < 140) {
                s.engine(
                        "KvTransferred",
                        "engineRequestId",
                        s.id("w"),
                        "transferKind",
                        "remote",
                        "direction",
                        "load",
                        "startNanos",
                        from,
                        "peer",
                        "prefill-1");
            }
            s.step(about(13 * MS, i), s.decodes("A"));
        }
        // The sender never delivers, and the engine computes the prompt itself.
        s.step(190 * MS, s.with(s.decodes("A"), s.prompt("w", 3_000))).decode(60, 13 * MS, "A", "w");
        return s.then(r -> {
            TokenAnalysis first = r.token("w", 0);
            assertThat(first.cause()).isEqualTo("REMOTE_KV_ADMISSION");
            assertThat(part(first, Part.TRANSFER_WAIT)).isGreaterThan(1_500 * MS);
            r.slow("A", 231, 231, "PREFILL_INTERFERENCE", "w");
            r.never("PREEMPTION", "KV_PRESSURE", "KV_OFFLOAD", "SEAT_LIMIT", "PREFIX_HIT_COLLAPSE");
        });
    }

    private static EventText preemptedBeforeItsFirstToken() {
        EventText s = new EventText("w16");
        s.queued("A", 300).step(40 * MS, List.of(s.prompt("A", 300))).decode(80, 13 * MS, "A");
        s.queued("B", 4_096).step(120 * MS, s.with(s.decodes("A"), s.firstChunk("B", 2_048)));
        s.preempted("B", "A").decode(90, 13 * MS, "A").finished("A", "stop");
        s.step(120 * MS, List.of(s.resumed("B", 2_048, false)));
        s.step(120 * MS, List.of(s.row("B", "prefill", 2_048, 1))).decode(60, 13 * MS, "B");
        return s.then(r -> {
            r.slow("B", 0, 0, "PREEMPTION", "A");
            assertThat(part(r.token("B", 0), Part.PREEMPTED_WAIT)).isBetween(1_100 * MS, 1_250 * MS);
            r.slow("A", 81, 81, "PREFILL_INTERFERENCE", "B");
            r.never("PREFIX_HIT_COLLAPSE", "KV_OFFLOAD", "PREEMPTION_LOOP", "PREEMPTION_STORM", "SEAT_LIMIT");
        });
    }

    /** The host was started again: the engine's clock begins near zero, its steps too. */
    private static EventText engineBackOnAClockThatBeganAnew() {
        EventText s = new EventText("w18");
        s.collectorEpoch = 1;
        s.queued("A", 50).step(20 * MS, List.of(s.prompt("A", 50))).decode(100, 16 * MS, "A");
        s.collectorEpoch = 2;
        s.epochMillisAtZero += (s.nowNanos + 90 * SECOND) / MS;
        s.nowNanos = 3 * SECOND;
        s.stepId = 0;
        s.queued("B", 50)
                .step(20 * MS, List.of(s.prompt("B", 50)))
                .decode(100, 16 * MS, "B")
                .finished("B", "stop");
        return s.then(r -> {
            assertThat(r.request("A").tokenCount()).isEqualTo(101);
            assertThat(r.request("B").tokenCount()).isEqualTo(101);
            assertThat(r.tokens())
                    .allSatisfy(token -> assertThat(token.gapNanos() == null || token.gapNanos() > 0)
                            .isTrue());
            r.quiet("A", 20, 100).quiet("B", 20, 100).never("HOST_GAP", "UNRESOLVED_STALL", "QUEUE_WAIT", "PREEMPTION");
        });
    }

    private static EventText emptyAnswerBesideATalker() {
        EventText s = new EventText("w19");
        s.received("client", "A").queued("A", 50).step(20 * MS, List.of(s.prompt("A", 50)));
        s.arrived("client", "A", 0, 1, s.nowNanos + MS);
        for (int i = 1; i < 160; i++) {
            if (i % 40 == 20) {
                String empty = "e" + i;
                s.received("client", empty).queued(empty, 64);
                s.step(24 * MS, s.with(s.decodes("A"), s.row(empty, "prefill", 64, 0, "cachedTokens", 0)));
                s.finished(empty, "stop");
                s.arrived("client", empty, 0, 0, s.nowNanos + MS, "finish", "stop");
                s.completed("client", empty, "complete", s.nowNanos + 2 * MS, "outputTokens", 0);
            } else {
                s.step(about(16 * MS, i), s.decodes("A"));
            }
            s.arrived("client", "A", i, 1, s.nowNanos + MS);
        }
        s.finished("A", "length").completed("client", "A", "complete", s.nowNanos + 2 * MS);
        return s.then(r -> {
            assertThat(r.request("A").tokenCount()).isEqualTo(160);
            assertThat(r.requests())
                    .filteredOn(request -> request.tokenCount() == 0)
                    .hasSize(4)
                    .allSatisfy(request -> {
                        assertThat(request.ttftNanos()).isNull();
                        assertThat(request.tpotNanos()).isNull();
                    });
            r.never("OUTPUT_STALL", "CLIENT_ABORT", "HOST_GAP", "UNRESOLVED_STALL", "QUEUE_WAIT");
        });
    }

    /** A router sends the request to another engine when the first one fails: tokens of the two are not one stream. */
    private static EventText retriedOnAnotherEngine() {
        EventText s = new EventText("w20");
        EventText other = s.beside("w20/second", 0, "w20/second");
        s.received("client", "R")
                .queued("R", 50)
                .step(20 * MS, List.of(s.prompt("R", 50)))
                .decode(30, 16 * MS, "R");
        s.finished("R", "error");
        other.nowNanos = s.nowNanos + 400 * MS;
        other.queued("R", 50)
                .step(20 * MS, List.of(other.prompt("R", 50)))
                .decode(60, 16 * MS, "R")
                .finished("R", "stop");
        return s.then(r -> {
            assertThat(r.tokens())
                    .extracting(token -> token.lifetime() + "/" + token.tokenIndex())
                    .doesNotHaveDuplicates();
            assertThat(r.requests()).extracting(RequestAnalysis::lifetime).containsExactlyInAnyOrder(0, 1);
            assertThat(r.requests()).extracting(RequestAnalysis::tokenCount).containsExactlyInAnyOrder(31L, 61L);
            r.never("HOST_GAP", "PREEMPTION", "UNRESOLVED_STALL", "OUTPUT_STALL", "QUEUE_WAIT");
        });
    }

    private static EventText interferingPromptAborted() {
        EventText s = new EventText("w21");
        s.received("client", "B");
        s.queued("A", 50)
                .step(20 * MS, List.of(s.prompt("A", 50)))
                .decode(100, 12 * MS, "A")
                .queued("B", 40_000);
        for (int i = 0; i < 12; i++) {
            s.step(about(88 * MS, i), s.with(s.decodes("A"), i == 0 ? s.firstChunk("B", 1_024) : s.chunk("B", 1_024)));
        }
        s.completed("client", "B", "client-closed", s.nowNanos - 20 * MS).finished("B", "aborted");
        s.decode(120, 12 * MS, "A");
        return s.then(r -> {
            r.slow("A", 101, 112, "PREFILL_INTERFERENCE", "B")
                    .quiet("A", 20, 100)
                    .quiet("A", 113, 232);
            assertThat(r.request("B").requestCauses()).contains("CLIENT_ABORT");
            assertThat(r.request("B").tokenCount()).isZero();
            r.never("KV_PRESSURE", "PREEMPTION", "UNRESOLVED_STALL", "HOST_GAP", "CONTEXT_STAIRCASE");
        });
    }

    /** Ten prompts cost 80 ms each; the eleventh comes with a pause of 500 ms. */
    private static EventText pauseInAStepWithAPrompt() {
        EventText s = new EventText("w22");
        s.queued("A", 50).step(20 * MS, List.of(s.prompt("A", 50))).decode(60, 12 * MS, "A");
        for (int i = 0; i < 11; i++) {
            String other = "p" + i;
            s.queued(other, 1_500);
            long from = s.nowNanos;
            boolean pause = i == 10;
            s.step(about(80 * MS, i) + (pause ? 500 * MS : 0), s.with(s.decodes("A"), s.prompt(other, 1_500)));
            if (pause) {
                s.put(
                        "HostPaused",
                        "w22/host",
                        "engineId",
                        "w22",
                        "processRole",
                        "engine",
                        "pauseCause",
                        "gc",
                        "startNanos",
                        from + 40 * MS,
                        "endNanos",
                        from + 540 * MS,
                        "clockNanos",
                        from + 540 * MS);
            }
            s.finished(other, "length").decode(9, 12 * MS, "A");
        }
        return s.then(r -> {
            for (int i = 0; i < 10; i++) {
                r.slow("A", 61 + 10 * i, 61 + 10 * i, "PREFILL_INTERFERENCE", "p" + i);
            }
            r.slow("A", 161, 161, "HOST_PAUSE", null, "engine");
            assertThat(part(r.token("A", 161), Part.HOST_PAUSE)).isBetween(490 * MS, 505 * MS);
            assertThat(part(r.token("A", 161), Part.PREFILL)).isBetween(50 * MS, 80 * MS);
            r.never("KV_PRESSURE", "HOST_GAP", "UNRESOLVED_STALL", "KERNEL_SLOW");
        });
    }

    /** The process that sends the tokens stopped; the engine went on, but for one slow step that it had no part in. */
    private static EventText pauseOfTheApiServer() {
        EventText s = new EventText("w25");
        s.received("client", "A").queued("A", 50).step(20 * MS, List.of(s.prompt("A", 50)));
        s.arrived("client", "A", 0, 1, s.nowNanos + MS);
        long held = Long.MIN_VALUE;
        for (int i = 1; i < 200; i++) {
            long from = s.nowNanos;
            s.step(about(18 * MS, i), s.decodes("A"));
            if (i == 120) {
                held = from + 330 * MS;
                s.put(
                        "HostPaused",
                        "w25/host",
                        "engineId",
                        "w25",
                        "processRole",
                        "api",
                        "pauseCause",
                        "gc",
                        "startNanos",
                        from + 2 * MS,
                        "endNanos",
                        from + 328 * MS,
                        "clockNanos",
                        from + 328 * MS);
            }
            s.arrived("client", "A", i, 1, Math.max(s.nowNanos + MS, held + i * 1_000L));
        }
        return s.then(r -> {
            assertThat(r.token("A", 120).deliveryCause()).isEqualTo("OUTPUT_STALL");
            r.quiet("A", 20, 199).never("HOST_PAUSE", "HOST_GAP", "NETWORK", "CLIENT_SLOW", "GATEWAY_BUFFERING");
        });
    }

    private static EventText pauseOfTheNeighbour() {
        EventText s = new EventText("w26");
        EventText other = s.beside("w26/other", 0, "w26/other");
        s.queued("A", 50).step(20 * MS, List.of(s.prompt("A", 50))).decode(110, 15 * MS, "A");
        other.queued("Z", 50).step(20 * MS, List.of(other.prompt("Z", 50))).decode(110, 15 * MS, "Z");
        long from = s.nowNanos;
        s.step(400 * MS, s.decodes("A"));
        other.step(400 * MS, other.decodes("Z"));
        s.put(
                "HostPaused",
                "w26/host",
                "engineId",
                "w26/other",
                "processRole",
                "engine",
                "pauseCause",
                "gc",
                "startNanos",
                from + 3 * MS,
                "endNanos",
                from + 388 * MS,
                "clockNanos",
                from + 388 * MS);
        s.decode(60, 15 * MS, "A");
        other.decode(60, 15 * MS, "Z");
        return s.then(r -> {
            r.slow("A", 111, 111, "UNRESOLVED_STALL", null).slow("Z", 111, 111, "HOST_PAUSE", null, "engine");
            r.never("HOST_GAP", "KERNEL_SLOW", "STREAM_SYNC");
        });
    }

    private static EventText compiledByTheOtherRank() {
        EventText s = new EventText("w30");
        EventText one = s.beside("w30", 1, "w30/rank-1");
        s.queued("A", 50).step(20 * MS, List.of(s.prompt("A", 50))).decode(110, 15 * MS, "A");
        one.queued("B", 50).step(20 * MS, List.of(one.prompt("B", 50))).decode(110, 15 * MS, "B");
        long from = s.nowNanos;
        s.step(700 * MS, s.decodes("A"));
        one.step(700 * MS, one.decodes("B"));
        one.engine("ShapeCompiled", "shape", "[1]", "startNanos", from + 2 * MS, "endNanos", from + 690 * MS);
        s.decode(60, 15 * MS, "A");
        one.decode(60, 15 * MS, "B");
        return s.then(r -> {
            r.slow("A", 111, 111, "UNRESOLVED_STALL", null).slow("B", 111, 111, "JIT_COMPILE", null);
            r.never("HOST_GAP", "KERNEL_SLOW", "STREAM_SYNC", "BATCH_GROWTH");
        });
    }

    private static void memory(EventText s, String change, long start, long end, Object... pairs) {
        List<Object> all = new ArrayList<>(List.of(
                "engineId",
                s.engineId,
                "deviceId",
                "gpu-0",
                "change",
                change,
                "sizeBytes",
                1L << 28,
                "startNanos",
                start,
                "endNanos",
                end,
                "clockNanos",
                end));
        all.addAll(List.of(pairs));
        s.put("MemoryChanged", s.name + "/gpu", all.toArray());
    }

    private static EventText allocationThatSucceeded() {
        EventText s = new EventText("w31");
        s.queued("R", 50).step(40 * MS, List.of(s.prompt("R", 50))).decode(90, 19 * MS, "R");
        long from = s.nowNanos;
        s.step(310 * MS, s.decodes("R"));
        memory(s, "alloc", from + 4 * MS, from + 5 * MS, "driverCode", 0);
        memory(s, "free", from + 200 * MS, from + 201 * MS, "driverCode", 0);
        s.decode(60, 19 * MS, "R");
        return s.then(r -> {
            r.slow("R", 91, 91, "UNRESOLVED_STALL", null);
            r.never("ALLOC_STALL", "DRIVER_ERROR", "STREAM_SYNC", "HOST_GAP", "KV_PRESSURE");
        });
    }

    private static EventText allocatorRetried() {
        EventText s = new EventText("w32");
        s.queued("R", 50).step(40 * MS, List.of(s.prompt("R", 50)));
        int retries = 3;
        for (int i = 0; i < 160; i++) {
            boolean stalled = i == 100;
            retries += stalled ? 2 : 0;
            s.step(about(stalled ? 330 * MS : 19 * MS, i), s.decodes("R"));
            s.engine("AllocatorSampled", "deviceId", "gpu-0", "reservedBytes", 70L << 30, "retryCount", retries);
        }
        return s.then(r -> {
            r.slow("R", 101, 101, "ALLOC_STALL", null, "gpu-0");
            r.quiet("R", 20, 100).quiet("R", 102, 160).never("STREAM_SYNC", "HOST_GAP", "UNRESOLVED_STALL");
        });
    }

    private static EventText seatsAndBlocksShort() {
        EventText s = new EventText("w33");
        s.engine("EngineConfigured", "maxSequencesCount", 3, "kvTotalBlocksCount", 1_000, "blockSizeTokens", 16);
        OperatorVariants.lateBesideThree(s, 790L, 540L);
        return s.then(r -> {
            assertThat(r.token("late", 0).cause()).isEqualTo("SEAT_LIMIT");
            r.never("KV_PRESSURE", "PREEMPTION", "QUEUE_WAIT");
        });
    }

    private static EventText batchSwingsOnAFlatEngine() {
        EventText s = new EventText("w35");
        String[] many = new String[20];
        List<Map<String, Object>> prompts = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            many[i] = "r" + i;
            s.queued(many[i], 40);
            prompts.add(s.prompt(many[i], 40));
        }
        s.step(60 * MS, prompts);
        String[] few = Arrays.copyOf(many, 4);
        for (int wave = 0; wave < 12; wave++) {
            s.decode(16, 15 * MS, many).decode(16, 15 * MS, few);
        }
        return s.then(r -> {
            r.quiet("r0", 40, 380).never("BATCH_OSCILLATION", "BATCH_GROWTH", "KV_PRESSURE", "CONTEXT_STAIRCASE");
        });
    }

    /** Three preemptions, two hundred tokens apart: each time less is computed again than was gained. */
    private static EventText threePreemptionsFarApart() {
        EventText s = new EventText("w36");
        s.queued("A", 60).queued("R", 40).step(20 * MS, List.of(s.prompt("A", 60), s.prompt("R", 40)));
        int context = 40;
        for (int round = 0; round < 3; round++) {
            s.decode(round == 0 ? 60 : 900, 14 * MS, "A", "R");
            context += round == 0 ? 60 : 900;
            s.preempted("R", "A").decode(8, 14 * MS, "A");
            s.step((40 + context / 20) * MS, s.with(s.decodes("A"), s.resumed("R", context + 1, true)));
            context++;
        }
        s.decode(900, 14 * MS, "A", "R");
        return s.then(r -> {
            assertThat(r.request("R").preemptions()).isEqualTo(3);
            assertThat(r.causes()).contains("PREEMPTION");
            r.slow("R", 61, 61, "PREEMPTION", "A").never("PREEMPTION_STORM", "CONTEXT_STAIRCASE", "KV_OFFLOAD");
        });
    }

    private static EventText oneSlotOfLlamaCpp() {
        EventText s = new EventText("w40");
        s.starts = false;
        s.engine("EngineConfigured", "maxSequencesCount", 1);
        s.ofSteps.put("runningCount", 1);
        s.received("client", "A").queued("A", 200).step(300 * MS, List.of(s.prompt("A", 200)));
        s.arrived("client", "A", 0, 1, s.nowNanos + 2 * MS);
        for (int i = 1; i < 120; i++) {
            if (i == 60) {
                s.received("client", "B").queued("B", 100);
            }
            s.step(about(45 * MS, i), s.decodes("A"), "waitingCount", i >= 60 ? 1 : 0);
            s.arrived("client", "A", i, 1, s.nowNanos + 2 * MS);
        }
        s.finished("A", "stop").step(160 * MS, List.of(s.prompt("B", 100)));
        s.arrived("client", "B", 0, 1, s.nowNanos + 2 * MS)
                .decode(40, 45 * MS, "B")
                .finished("B", "stop");
        return s.then(r -> {
            assertThat(r.token("B", 0).cause()).isEqualTo("SEAT_LIMIT");
            assertThat(part(r.token("B", 0), Part.QUEUE_WAIT)).isBetween(2_600 * MS, 2_800 * MS);
            r.quiet("A", 20, 119).never("KV_PRESSURE", "PREEMPTION", "PREFILL_INTERFERENCE", "QUEUE_WAIT", "HOST_GAP");
        });
    }

    /** The prompt is computed by one engine, the tokens by another, and one of those is slow. */
    private static EventText slowTokenOfAPair() {
        EventText s = new EventText("w43");
        EventText prefill = s.beside("w43/prefill", 0, "w43/prefill");
        prefill.queued("R", 3_000)
                .step(350 * MS, List.of(prefill.prompt("R", 3_000)))
                .finished("R", "length");
        s.queued("A", 50).step(20 * MS, List.of(s.prompt("A", 50))).decode(30, 17 * MS, "A");
        s.queued("R", 3_000);
        s.step(18 * MS, s.with(s.decodes("A"), s.row("R", "prefill", 1, 1, "cachedTokens", 2_999)));
        s.decode(60, 17 * MS, "A", "R").idle(400 * MS).decode(60, 17 * MS, "A", "R");
        return s.then(r -> {
            r.slow("R", 61, 61, "HOST_GAP", null).slow("A", 92, 92, "HOST_GAP", null);
            assertThat(r.token("R", 61).engineId()).isEqualTo("w43");
            assertThat(r.findings("HOST_GAP"))
                    .filteredOn(finding -> "w43-R".equals(finding.requestId()))
                    .isNotEmpty()
                    .extracting(Finding::engineId)
                    .containsOnly("w43");
            assertThat(r.request("R").engines()).containsExactly("w43/prefill", "w43");
            r.never("REMOTE_KV_ADMISSION", "PREEMPTION", "RECOMPUTE", "NETWORK");
        });
    }

    /** The engine's front end sends every fourth token with the three before it. */
    private static EventText tokensSentInFours() {
        EventText s = new EventText("w47");
        s.received("client", "R").queued("R", 32).step(30 * MS, List.of(s.prompt("R", 32)));
        s.arrived("client", "R", 0, 1, s.nowNanos + MS);
        for (int i = 1; i < 201; i++) {
            s.step(about(10 * MS, i), s.decodes("R"));
            if (i % 4 == 0) {
                s.arrived("client", "R", i - 3, 4, s.nowNanos + MS);
            }
        }
        s.finished("R", "length").completed("client", "R", "complete", s.nowNanos + 2 * MS);
        return s.then(r -> {
            assertThat(r.request("R").requestCauses()).contains("MULTI_TOKEN_CHUNK");
            assertThat(r.tokens()).extracting(TokenAnalysis::deliveryCause).containsOnlyNulls();
            r.quiet("R", 20, 200).never("GATEWAY_BUFFERING", "OUTPUT_STALL", "NETWORK", "UNRESOLVED_STALL");
        });
    }

    private static EventText gatewayAloneHoldsGroups() {
        EventText s = new EventText("w48");
        s.received("gateway", "R").idle(300 * MS);
        List<Long> arrivals = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            s.idle(about(25 * MS, i));
            arrivals.add(s.nowNanos);
        }
        for (int i = 0; i < 200; i++) {
            long release = arrivals.get(i / 20 * 20 + 19) + MS + i % 20 * 15_000L;
            s.arrived(
                    "gateway",
                    "R",
                    i,
                    1,
                    arrivals.get(i),
                    "writeStartNanos",
                    release,
                    "writeEndNanos",
                    release + 8_000);
        }
        s.completed("gateway", "R", "complete", s.nowNanos + 5 * MS);
        return s.then(r -> {
            assertThat(r.causes()).contains("GATEWAY_BUFFERING");
            r.never("OUTPUT_STALL", "NETWORK", "CLIENT_SLOW", "HOST_GAP", "PREFILL_INTERFERENCE", "CONTEXT_STAIRCASE");
        });
    }

    /** Gateway and client on clocks that nothing joins: what lies between them cannot be told. */
    private static EventText clocksThatNobodyJoined() {
        EventText s = new EventText("w49");
        EventText client = s.beside("w49", 0, "w49/engine");
        client.clockId = "w49/laptop";
        client.nowNanos = 77 * SECOND;
        client.epochMillisAtZero = s.epochMillisAtZero + (s.nowNanos - client.nowNanos) / MS;
        long apart = s.nowNanos - client.nowNanos;
        client.received("client", "R");
        s.received("gateway", "R").queued("R", 32).step(30 * MS, List.of(s.prompt("R", 32)));
        for (int i = 0; i < 140; i++) {
            long at = s.nowNanos + MS;
            s.arrived("gateway", "R", i, 1, at, "writeStartNanos", at + 20_000, "writeEndNanos", at + 40_000);
            client.arrived("client", "R", i, 1, at - apart + 40_000 + (i == 90 ? 210 * MS : 5 * MS));
            s.step(about(250 * MS, i), s.decodes("R"));
        }
        return s.then(r -> {
            assertThat(r.request("R").tokenCount()).isGreaterThanOrEqualTo(140);
            r.quiet("R", 20, 139).never("NETWORK", "CLIENT_SLOW", "GATEWAY_BUFFERING", "OUTPUT_STALL");
        });
    }

    private static EventText evictionsThatNobodyNeeded() {
        EventText s = new EventText("w55");
        s.engine("EngineConfigured", "blockSizeTokens", 16, "kvTotalBlocksCount", 1_000);
        s.ofSteps.put("kvUsedBlocksCount", 980L);
        s.ofSteps.put("waitingCount", 0);
        s.queued("A", 60).step(20 * MS, List.of(s.prompt("A", 60))).decode(40, 14 * MS, "A");
        long batch = 0;
        for (int i = 0; i < 40; i++) {
            // Every prompt is another one: what it evicts is asked for by nobody.
            String other = "p" + i;
            s.queued(other, 320);
            s.evicted(++batch, hashes(1_000L * i, 20));
            s.step(about(24 * MS, i), s.with(s.decodes("A"), s.prompt(other, 320)), "kvBatchSequence", ++batch);
            s.stored(batch, hashes(1_000L * (i + 50), 20));
            s.finished(other, "length").decode(5, 14 * MS, "A");
        }
        return s.then(r -> {
            r.slow("A", 41, 41, "PREFILL_INTERFERENCE", "p0");
            r.never("KV_PRESSURE", "PREFIX_HIT_COLLAPSE", "PREEMPTION", "CONTEXT_STAIRCASE", "UNRESOLVED_STALL");
        });
    }

    /** The device is capped from the start, and a step is slow for another reason. */
    private static EventText lowClockFromTheStart() {
        EventText s = new EventText("w28");
        s.queued("R", 40).step(60 * MS, List.of(s.prompt("R", 40)));
        for (int i = 0; i < 240; i++) {
            s.put(
                    "DeviceSampled",
                    "w28/gpu",
                    "engineId",
                    "w28",
                    "deviceId",
                    "gpu-0",
                    "smClockHertz",
                    1_100_000_000L,
                    "throttleReason",
                    "sw-power-cap",
                    "clockNanos",
                    s.nowNanos);
            s.step(about(i == 170 ? 180 * MS : 40 * MS, i), s.decodes("R"));
        }
        return s.then(r -> {
            r.slow("R", 171, 171, "UNRESOLVED_STALL", null).quiet("R", 20, 170).quiet("R", 172, 240);
            r.never("THERMAL_CLOCK", "KERNEL_SLOW", "HOST_GAP");
        });
    }

    /** The prompt waited in the prefill engine's queue, at its limit: the decode engine had no part in it. */
    private static EventText prefillEngineWasBusy() {
        EventText s = new EventText("w42");
        EventText prefill = s.beside("w42/prefill", 0, "w42/prefill");
        prefill.engine("EngineConfigured", "maxSequencesCount", 1);
        prefill.ofSteps.put("runningCount", 1);
        for (int i = 0; i < 20; i++) {
            prefill.queued("p" + i, 400).step(40 * MS, List.of(prefill.prompt("p" + i, 400)), "waitingCount", 0);
            prefill.finished("p" + i, "length");
        }
        prefill.queued("big", 30_000).queued("R", 400);
        for (int i = 0; i < 10; i++) {
            prefill.step(
                    about(300 * MS, i),
                    List.of(
                            i == 0
                                    ? prefill.firstChunk("big", 3_000)
                                    : i == 9 ? prefill.row("big", "prefill", 3_000, 1) : prefill.chunk("big", 3_000)),
                    "waitingCount",
                    1);
        }
        prefill.finished("big", "length").step(40 * MS, List.of(prefill.prompt("R", 400)), "waitingCount", 0);
        prefill.finished("R", "length");
        s.queued("A", 50).step(20 * MS, List.of(s.prompt("A", 50))).decode(230, 17 * MS, "A");
        s.queued("R", 400);
        s.step(18 * MS, s.with(s.decodes("A"), s.row("R", "prefill", 1, 1, "cachedTokens", 399)));
        s.decode(60, 17 * MS, "A", "R");
        return s.then(r -> {
            assertThat(r.request("R").engines()).containsExactly("w42/prefill", "w42");
            assertThat(r.findings("SEAT_LIMIT"))
                    .filteredOn(finding -> "w42-R".equals(finding.requestId()))
                    .singleElement()
                    .satisfies(finding -> {
                        assertThat(finding.engineId()).isEqualTo("w42/prefill");
                        assertThat(finding.firstTokenIndex()).isZero();
                    });
            r.quiet("A", 20, 290).never("REMOTE_KV_ADMISSION", "PREEMPTION", "KV_PRESSURE", "HOST_GAP", "NETWORK");
        });
    }
}
