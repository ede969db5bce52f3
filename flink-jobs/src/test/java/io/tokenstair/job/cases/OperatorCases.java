package io.tokenstair.job.cases;

import static io.tokenstair.job.cases.CaseResults.part;
import static io.tokenstair.job.cases.CaseScript.MS;
import static io.tokenstair.job.cases.CaseScript.SECOND;
import static io.tokenstair.job.cases.CaseScript.about;
import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.cause.Part;
import io.tokenstair.event.Chunk;
import io.tokenstair.event.ChunkDelivered;
import io.tokenstair.event.DeviceSampled;
import io.tokenstair.event.Finish;
import io.tokenstair.event.HostPaused;
import io.tokenstair.event.KernelRan;
import io.tokenstair.event.KvBlocksEvicted;
import io.tokenstair.event.KvBlocksStored;
import io.tokenstair.event.KvTransferred;
import io.tokenstair.event.ShapeCompiled;
import io.tokenstair.job.cases.CaseScript.Row;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * What people who run engines reported, restated as events with the figures of the report, and what must be concluded. Numbers are
 * those of the collection the project keeps of such reports; what must not be named matters as much as what must.
 */
final class OperatorCases {
    private OperatorCases() {}

    /** A report and its answer. */
    record Case(CaseScript script, Consumer<CaseResults> answer) {
        String name() {
            return script.name;
        }

        @Override
        public String toString() {
            return name();
        }
    }

    static List<Case> all() {
        return List.of(
                longPrefillStarvesDecode(),
                decodeNeverScheduledDuringAChunkBurst(),
                unfairLanesWithoutPreemption(),
                firstGapTooLong(),
                publishedOneStepLater(),
                preemptAndResumeLoop(),
                fullCacheWithoutPreemption(),
                pausedRequestsObserved(),
                pausedRequestsNotObserved(),
                healthyPreemption(),
                preemptionStorm(),
                preemptedLosesItsPlace(),
                periodicPrefixMiss(),
                waitingForRemoteKv(),
                graphCeilingCrossedForGood(),
                graphCeilingCrossedOnce(),
                missingCaptureSize(),
                compiledOnFirstUse(),
                collectorPauses(),
                frozenWithoutARecord(),
                thermalSlowdown(),
                slowerStepWithoutAReason(),
                gatewayReleasesGroups(),
                abortedBeforeTheFirstToken(),
                noOutputAtAll(),
                severalTokensInAChunk(),
                fourChoices(),
                hungUpAndCameBack(),
                outputSideStall(),
                engineIdle(),
                seatBoundByMetrics(),
                cacheBoundByMetrics(),
                usageAlwaysZero(),
                firstChunkBeforeTheSending(),
                twoUsesOfOneIdAtOnce(),
                prefillAndDecodeEngine(),
                cacheEventsLostAndReplayed(),
                hugeId());
    }

    // ---- prefill against decode

    private static Case longPrefillStarvesDecode() {
        CaseScript s = new CaseScript("c01").configured(4096L, 64, null).queued("A", 32);
        s.kvTotal = 86_000;
        s.step(10 * MS, Row.prompt("A", 32)).decode(300, 3_700_000, "A").queued("B", 65_535);
        for (int done = 0; done < 65_400; done += 600) {
            s.step(about(151 * MS, s.lastStepId()), Row.decode("A"), Row.chunk("B", 600));
        }
        s.step(40 * MS, Row.decode("A"), Row.prompt("B", 135));
        s.decode(200, 3_900_000, "A", "B").finished("A", "length").finished("B", "length");
        return new Case(s, r -> {
            r.mostly("A", 301, 408, "PREFILL_INTERFERENCE");
            assertThat(r.finding("PREFILL_INTERFERENCE").culpritRequestId()).isEqualTo("c01-B");
            r.never("KV_PRESSURE", "CONTEXT_STAIRCASE", "PREEMPTION", "CONTEXT_GROWTH");
        });
    }

    private static Case decodeNeverScheduledDuringAChunkBurst() {
        CaseScript s = new CaseScript("c03").configured(3456L, 64, null).queued("A", 32);
        s.step(30 * MS, Row.prompt("A", 32)).decode(200, 16_800_000, "A").queued("B", 200_448);
        for (int i = 0; i < 57; i++) {
            s.running = 2;
            s.step(about(1_350 * MS, i), Row.chunk("B", 3456));
        }
        s.step(about(1_350 * MS, 57), Row.prompt("B", 3456));
        s.running = null;
        s.decode(100, 17_000_000, "A", "B").finished("A", "length").finished("B", "length");
        return new Case(s, r -> {
            r.slow("A", 201, 201, "DECODE_STARVED_BY_PREFILL", "B");
            assertThat(part(r.token("A", 201), Part.SKIPPED_WAIT)).isBetween(77 * SECOND, 79 * SECOND);
            r.never("CONTEXT_STAIRCASE", "CONTEXT_GROWTH", "PREEMPTION", "KV_PRESSURE");
        });
    }

    private static Case unfairLanesWithoutPreemption() {
        CaseScript s = new CaseScript("c05").configured(512L, 16, null);
        String[] lanes = {"l0", "l1", "l2", "l3", "l4", "l5", "l6", "l7"};
        List<Row> prompts = new ArrayList<>();
        for (String lane : lanes) {
            s.queued(lane, 32);
            prompts.add(Row.prompt(lane, 32));
        }
        s.step(40 * MS, prompts).decode(100, 20 * MS, lanes).queued("P", 60_000);
        for (int i = 0; i < 60; i++) {
            List<Row> rows = new ArrayList<>();
            for (int lane = 0; lane < 6; lane++) {
                rows.add(Row.decode(lanes[lane]));
            }
            rows.add(Row.chunk("P", 506));
            s.running = 9;
            s.step(about(46 * MS, i), rows);
        }
        s.running = null;
        s.decode(50, 20 * MS, lanes);
        return new Case(s, r -> {
            r.slow("l6", 101, 101, "TOKEN_BUDGET_STARVATION", "P");
            r.slow("l7", 101, 101, "TOKEN_BUDGET_STARVATION", "P");
            r.never("PREEMPTION", "KV_PRESSURE", "DECODE_STARVED_BY_PREFILL");
        });
    }

    private static Case firstGapTooLong() {
        CaseScript s = new CaseScript("c06").configured(2048L, 16, null);
        long sent = s.nowNanos;
        s.received("client", "R", sent).queued("R", 5_000);
        s.step(880 * MS, Row.chunk("R", 2048));
        s.chunk("client", "R", 0, 0, sent + 900 * MS, Finish.NONE);
        s.step(700 * MS, Row.chunk("R", 2048)).step(600 * MS, Row.prompt("R", 904));
        s.chunk("client", "R", 0, 1, sent + 2_200 * MS, Finish.NONE);
        for (int i = 1; i < 80; i++) {
            s.step(about(20 * MS, i), Row.decode("R"));
            s.chunk("client", "R", i, 1, s.nowNanos + 2 * MS, i == 79 ? Finish.LENGTH : Finish.NONE);
        }
        s.finished("R", "length").completed("client", "R", "complete", s.nowNanos + 3 * MS);
        return new Case(s, r -> {
            assertThat(r.request("R").ttftNanos()).isEqualTo(2_200 * MS);
            assertThat(r.request("R").requestCauses()).contains("ROLE_CHUNK");
            r.quiet("R", 1, 79).never("OUTPUT_STALL", "GATEWAY_BUFFERING", "HOST_GAP", "UNRESOLVED_STALL");
        });
    }

    private static Case publishedOneStepLater() {
        CaseScript s = new CaseScript("c07").configured(2048L, 16, null);
        s.received("client", "R", s.nowNanos).queued("R", 32).step(20 * MS, Row.prompt("R", 32));
        for (int i = 1; i < 200; i++) {
            s.step(about(14 * MS, i), Row.decode("R"));
            s.chunk("client", "R", i - 1, 1, s.nowNanos + MS, Finish.NONE);
        }
        s.chunk("client", "R", 199, 1, s.nowNanos + 15 * MS, Finish.LENGTH);
        s.finished("R", "length").completed("client", "R", "complete", s.nowNanos + 16 * MS);
        return new Case(
                s, r -> r.quiet("R", 1, 199).never("OUTPUT_STALL", "NETWORK", "GATEWAY_BUFFERING", "CLIENT_SLOW"));
    }

    // ---- KV pressure, preemption, eviction

    private static Case preemptAndResumeLoop() {
        CaseScript s = new CaseScript("c08").configured(8192L, 16, null);
        s.kvTotal = 28_125;
        String[] decoders = {"d0", "d1", "d2", "d3"};
        for (String decoder : decoders) {
            s.queued(decoder, 100_000);
            for (int i = 0; i < 12; i++) {
                s.step(about(250 * MS, i), Row.chunk(decoder, 8192));
            }
            s.step(60 * MS, Row.prompt(decoder, 1_696));
        }
        s.kvUsed = 25_000;
        s.decode(100, 30 * MS, decoders).queued("R", 100_000);
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 6; i++) {
                s.kvUsed = 25_000 + 512L * (i + 1);
                List<Row> rows = new ArrayList<>();
                for (String decoder : decoders) {
                    rows.add(Row.decode(decoder));
                }
                rows.add(round == 0 ? Row.chunk("R", 8_000) : Row.again("R", 8_000, false));
                s.step(about(260 * MS, i), rows);
            }
            s.kvUsed = s.kvTotal;
            s.preempted("R", "R");
            s.kvUsed = 25_000;
            s.decode(5, 30 * MS, decoders);
        }
        return new Case(s, r -> {
            Finding loop = r.finding("PREEMPTION_LOOP");
            assertThat(loop.requestId()).isEqualTo("c08-R");
            assertThat(r.request("R").preemptions()).isEqualTo(4);
            assertThat(r.request("R").tokenCount()).isZero();
            assertThat(r.causes()).containsAnyOf("RECOMPUTE", "PREFILL_INTERFERENCE");
        });
    }

    private static Case fullCacheWithoutPreemption() {
        CaseScript s = new CaseScript("c09").configured(8192L, 256, null);
        s.kvTotal = 10_000;
        String[] all = new String[8];
        for (int i = 0; i < 8; i++) {
            all[i] = "r" + i;
            s.queued(all[i], 32).step(20 * MS, Row.prompt(all[i], 32));
        }
        for (int i = 0; i < 500; i++) {
            s.kvUsed = 9_120 + i;
            s.decode(1, 33_300_000, all);
        }
        return new Case(s, r -> {
            r.never("KV_PRESSURE", "PREEMPTION", "CONTEXT_STAIRCASE", "PREEMPTION_STORM");
            for (String request : all) {
                r.quiet(request, 20, 500);
            }
        });
    }

    private static Case pausedRequestsObserved() {
        CaseScript s = new CaseScript("c10a");
        for (int i = 0; i < 120; i++) {
            s.metric("trtllm_num_paused_requests", "engine=\"c10a\"", i % 3 == 0 ? 4 : 0)
                    .metric("trtllm_num_active_requests", "engine=\"c10a\"", 60)
                    .metric("trtllm_kv_cache_utilization", "engine=\"c10a\"", 0.995)
                    .metric("trtllm_num_queued_requests", "engine=\"c10a\"", 12)
                    .idle(SECOND);
        }
        return new Case(s, r -> {
            List<Finding> pressure = r.findings("KV_PRESSURE");
            assertThat(pressure).isNotEmpty();
            assertThat(pressure.get(0).confidence()).isEqualTo("consistent-with");
            assertThat(pressure.get(0).narrative()).contains("paused requests observed");
            r.never("PREEMPTION", "PREEMPTION_STORM");
        });
    }

    private static Case pausedRequestsNotObserved() {
        CaseScript s = new CaseScript("c10b");
        for (int i = 0; i < 120; i++) {
            s.metric("trtllm_num_paused_requests", "engine=\"c10b\"", 0)
                    .metric("trtllm_num_active_requests", "engine=\"c10b\"", 60)
                    .metric("trtllm_kv_cache_utilization", "engine=\"c10b\"", 0.995)
                    .metric("trtllm_num_queued_requests", "engine=\"c10b\"", 12)
                    .idle(SECOND);
        }
        return new Case(s, r -> {
            for (Finding finding : r.findings()) {
                assertThat(finding.narrative()).doesNotContain("paused requests observed");
                assertThat(finding.confidence()).isNotEqualTo("established");
            }
            r.never("PREEMPTION", "PREEMPTION_STORM");
        });
    }

    private static Case healthyPreemption() {
        CaseScript s = new CaseScript("c12").configured(8192L, 64, null);
        s.kvTotal = 4_000;
        for (int group = 0; group < 12; group++) {
            String[] all = new String[8];
            for (int i = 0; i < 8; i++) {
                all[i] = "g" + group + "r" + i;
                s.queued(all[i], 200).step(30 * MS, Row.prompt(all[i], 200));
            }
            s.decode(60, 20 * MS, all);
            if (group % 2 == 0) {
                s.kvUsed = 4_000;
                s.preempted(all[7], all[0]);
                String[] others = java.util.Arrays.copyOf(all, 7);
                s.decode(10, 19 * MS, others);
                s.kvUsed = 3_000;
                List<Row> rows = new ArrayList<>();
                for (String other : others) {
                    rows.add(Row.decode(other));
                }
                rows.add(Row.again(all[7], 261, true));
                s.step(60 * MS, rows);
            }
            s.decode(60, 20 * MS, all);
            for (String one : all) {
                s.finished(one, "length");
            }
        }
        return new Case(s, r -> {
            assertThat(r.causes()).contains("PREEMPTION");
            r.never("PREEMPTION_STORM", "PREEMPTION_LOOP");
        });
    }

    private static Case preemptionStorm() {
        CaseScript s = new CaseScript("c12s").configured(8192L, 64, null);
        s.kvTotal = 4_000;
        String[] all = new String[8];
        for (int i = 0; i < 8; i++) {
            all[i] = "r" + i;
            s.queued(all[i], 800).step(90 * MS, Row.prompt(all[i], 800));
        }
        s.decode(60, 20 * MS, all);
        int[] context = new int[8];
        for (int round = 0; round < 120; round++) {
            int victim = round % 8;
            s.kvUsed = 4_000;
            s.preempted(all[victim], all[(victim + 1) % 8]);
            List<Row> rows = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                if (i != victim) {
                    rows.add(Row.decode(all[i]));
                }
            }
            s.step(20 * MS, rows).step(20 * MS, rows).step(20 * MS, rows);
            List<Row> back = new ArrayList<>(rows);
            back.add(Row.again(all[victim], 900, true));
            s.kvUsed = 3_900;
            s.step(about(110 * MS, round), back);
            context[victim]++;
        }
        return new Case(s, r -> {
            Finding storm = r.finding("PREEMPTION_STORM");
            assertThat(storm.engineId()).isEqualTo("c12s");
            assertThat(storm.requestId()).isNull();
        });
    }

    private static Case preemptedLosesItsPlace() {
        CaseScript s = new CaseScript("c13")
                .configured(8192L, 8, null)
                .queued("A", 8_000, 0)
                .queued("C", 100, 0);
        s.step(300 * MS, Row.prompt("A", 8_000), Row.prompt("C", 100)).decode(100, 20 * MS, "A", "C");
        s.queued("B", 4_000, 0);
        s.preempted("A", "C");
        s.waiting = 2;
        s.step(20 * MS, Row.decode("C"));
        s.step(170 * MS, Row.decode("C"), Row.prompt("B", 4_000)).decode(40, 20 * MS, "B", "C");
        s.waiting = null;
        s.step(320 * MS, Row.decode("B"), Row.decode("C"), Row.again("A", 8_101, true));
        s.decode(40, 20 * MS, "A", "B", "C");
        return new Case(s, r -> {
            r.slow("A", 101, 101, "PREEMPTION", "C");
            assertThat(r.request("A").recomputedTokens()).isBetween(8_000L, 8_200L);
            assertThat(r.causes()).contains("PREEMPTED_THEN_OVERTAKEN");
            Finding overtaken = r.finding("PREEMPTED_THEN_OVERTAKEN");
            assertThat(overtaken.requestId()).isEqualTo("c13-A");
            assertThat(overtaken.culpritRequestId()).isEqualTo("c13-B");
        });
    }

    private static Case periodicPrefixMiss() {
        CaseScript s = new CaseScript("c14").configured(8192L, 8, null);
        s.kvTotal = 20_000;
        List<Long> hashes = new ArrayList<>();
        for (long i = 0; i < 128; i++) {
            hashes.add(1_000 + i);
        }
        long batch = 0;
        for (int turn = 0; turn < 10; turn++) {
            String request = "t" + turn;
            boolean miss = turn == 0 || turn == 5 || turn == 9;
            s.queued(request, 2_100);
            s.kvUsed = 3_000;
            if (turn == 4 || turn == 8) {
                s.engine(new KvBlocksEvicted("c14", 0, ++batch, null, 0, "GPU", hashes, false, null));
            }
            s.kvBatch = ++batch;
            if (miss) {
                s.step(900 * MS, Row.prompt(request, 2_100).cached(0));
                s.engine(new KvBlocksStored("c14", 0, batch, null, 0, "GPU", hashes, null, 16, 2_048L));
            } else {
                s.step(30 * MS, Row.prompt(request, 52).cached(2_048));
            }
            s.kvBatch = null;
            s.decode(40, 20 * MS, request).finished(request, "stop");
        }
        return new Case(s, r -> {
            for (RequestAnalysis request : r.requests()) {
                boolean lost = request.requestId().equals("c14-t5")
                        || request.requestId().equals("c14-t9");
                if (lost) {
                    assertThat(request.requestCauses()).as(request.requestId()).contains("PREFIX_HIT_COLLAPSE");
                } else {
                    assertThat(request.requestCauses()).as(request.requestId()).doesNotContain("PREFIX_HIT_COLLAPSE");
                }
            }
            r.never("PREEMPTION");
        });
    }

    private static Case waitingForRemoteKv() {
        CaseScript s = new CaseScript("c17").configured(8192L, 64, null);
        s.kvTotal = 10_000;
        String[] all = {"r0", "r1", "r2", "r3"};
        for (String one : all) {
            s.queued(one, 200).step(30 * MS, Row.prompt(one, 200));
        }
        s.kvUsed = 9_960;
        s.decode(100, 16 * MS, all).queued("late", 4_000);
        long from = s.nowNanos;
        s.waiting = 1;
        s.decode(150, 16 * MS, all);
        s.engine(new KvTransferred(
                "c17",
                0,
                s.engineRequestId("late"),
                "remote",
                "load",
                from,
                s.nowNanos,
                512L << 20,
                4_000L,
                "prefill-3"));
        s.waiting = null;
        s.step(
                20 * MS,
                Row.decode("r0"),
                Row.decode("r1"),
                Row.decode("r2"),
                Row.decode("r3"),
                Row.prompt("late", 1).cached(3_999));
        s.decode(40, 16 * MS, "r0", "r1", "r2", "r3", "late");
        return new Case(s, r -> {
            assertThat(r.token("late", 0).cause()).isEqualTo("REMOTE_KV_ADMISSION");
            assertThat(part(r.token("late", 0), Part.TRANSFER_WAIT)).isGreaterThan(2 * SECOND);
            r.never("PREEMPTION", "KV_PRESSURE", "PREEMPTION_STORM");
        });
    }

    // ---- graphs, kernels, compilation

    private static void graphEngine(CaseScript s, int batch) {
        for (int i = 0; i < batch; i++) {
            s.queued("r" + i, 64);
        }
        List<Row> prompts = new ArrayList<>();
        for (int i = 0; i < batch; i++) {
            prompts.add(Row.prompt("r" + i, 64));
        }
        s.graphMode = "eager";
        s.step(30 * MS, prompts.subList(0, Math.min(18, batch)));
        s.graphMode = "full";
    }

    private static List<Row> decodes(int count) {
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            rows.add(Row.decode("r" + i));
        }
        return rows;
    }

    private static Case graphCeilingCrossedForGood() {
        CaseScript s = new CaseScript("c18").configured(8192L, 4_096, 32);
        graphEngine(s, 77);
        s.paddedBatch = 24;
        for (int i = 0; i < 400; i++) {
            s.step(about(3 * MS, i), decodes(18));
        }
        List<Row> rest = new ArrayList<>();
        for (int i = 18; i < 77; i++) {
            rest.add(Row.prompt("r" + i, 64));
        }
        s.graphMode = "eager";
        s.paddedBatch = null;
        s.step(90 * MS, rest);
        for (int i = 0; i < 600; i++) {
            s.step(about(12_600_000, i), decodes(77));
        }
        return new Case(s, r -> {
            Finding fallback = r.finding("KERNEL_FALLBACK");
            assertThat(r.of("r0", 402, 500).stream()
                            .filter(t -> "KERNEL_FALLBACK".equals(t.cause()))
                            .count())
                    .as("tokens right after the crossing")
                    .isGreaterThan(80);
            assertThat(fallback.narrative()).isNotBlank();
            r.never("KV_PRESSURE", "PREEMPTION", "THERMAL_CLOCK");
        });
    }

    private static Case graphCeilingCrossedOnce() {
        CaseScript s = new CaseScript("c18b").configured(8192L, 4_096, 32);
        graphEngine(s, 18);
        s.paddedBatch = 24;
        for (int i = 0; i < 400; i++) {
            s.step(about(3 * MS, i), decodes(18));
        }
        s.graphMode = "eager";
        s.paddedBatch = null;
        for (int i = 0; i < 3; i++) {
            s.step(about(9 * MS, i), decodes(18));
        }
        s.graphMode = "full";
        s.paddedBatch = 24;
        for (int i = 0; i < 400; i++) {
            s.step(about(3 * MS, i), decodes(18));
        }
        return new Case(s, r -> {
            r.mostly("r0", 401, 403, "KERNEL_FALLBACK");
            r.quiet("r0", 405, 800);
            for (Finding finding : r.findings()) {
                assertThat(finding.narrative()).doesNotContain("absorbing");
            }
        });
    }

    private static Case missingCaptureSize() {
        CaseScript s = new CaseScript("c19").configured(700L, 4_096, 696);
        graphEngine(s, 18);
        s.paddedBatch = 24;
        for (int i = 0; i < 600; i++) {
            boolean atPeak = i >= 300 && i % 50 == 0;
            s.graphMode = atPeak ? "eager" : "full";
            s.step(about(atPeak ? 20 * MS : 6 * MS, i), decodes(18));
        }
        return new Case(s, r -> {
            assertThat(r.tokens().stream()
                            .filter(token -> token.requestId().equals("c19-r0") && token.cause() != null)
                            .filter(token -> token.tokenIndex() > 20)
                            .map(token -> token.tokenIndex() + " " + token.cause()))
                    .containsExactly(
                            "301 KERNEL_FALLBACK",
                            "351 KERNEL_FALLBACK",
                            "401 KERNEL_FALLBACK",
                            "451 KERNEL_FALLBACK",
                            "501 KERNEL_FALLBACK",
                            "551 KERNEL_FALLBACK");
        });
    }

    private static Case compiledOnFirstUse() {
        CaseScript s = new CaseScript("c21").configured(2048L, 16, null).queued("R", 32);
        s.step(30 * MS, Row.prompt("R", 32)).decode(200, 15 * MS, "R");
        long from = s.nowNanos;
        s.step(1_500 * MS, Row.decode("R", 3));
        s.engine(new ShapeCompiled("c21", 0, "npu-0", "[3,4096]", "mtp_kernel", from + 2 * MS, from + 1_480 * MS));
        s.decode(100, 15 * MS, "R");
        long unrecorded = s.nowNanos;
        s.step(1_500 * MS, Row.decode("R")).decode(50, 15 * MS, "R");
        return new Case(s, r -> {
            assertThat(unrecorded).isPositive();
            r.slow("R", 201, 201, "JIT_COMPILE", null);
            assertThat(r.token("R", 304).cause()).isIn("UNRESOLVED_STALL", "HOST_GAP");
            r.quiet("R", 204, 303);
        });
    }

    // ---- host, power, network, gateway

    private static Case collectorPauses() {
        CaseScript s = new CaseScript("c24")
                .configured(2048L, 16, null)
                .queued("A", 32)
                .queued("B", 32);
        s.step(30 * MS, Row.prompt("A", 32), Row.prompt("B", 32));
        for (int i = 0; i < 8; i++) {
            s.decode(100, 15 * MS, "A", "B");
            long from = s.nowNanos;
            s.idle((200 + 10 * i) * MS);
            s.engine(new HostPaused("c24", "host", "engine", "gc", from, s.nowNanos));
        }
        s.decode(100, 15 * MS, "A", "B");
        return new Case(s, r -> {
            r.mostly("A", 101, 101, "HOST_PAUSE").mostly("B", 801, 801, "HOST_PAUSE");
            assertThat(r.token("A", 101).culpritRequestId()).isEqualTo("engine");
            assertThat(r.findings("HOST_PAUSE"))
                    .filteredOn(finding -> finding.requestId() == null)
                    .singleElement()
                    .satisfies(finding -> assertThat(finding.narrative()).contains("recorded as gc"));
            assertThat(r.token("A", 101).chain().toString()).containsIgnoringCase("gc");
        });
    }

    private static Case frozenWithoutARecord() {
        CaseScript s = new CaseScript("c24b")
                .configured(2048L, 16, null)
                .queued("A", 32)
                .queued("B", 32);
        s.step(30 * MS, Row.prompt("A", 32), Row.prompt("B", 32));
        for (int i = 0; i < 5; i++) {
            s.decode(100, 15 * MS, "A", "B").idle((700 + 200 * i) * MS);
        }
        s.decode(100, 15 * MS, "A", "B");
        return new Case(s, r -> {
            r.slow("A", 101, 101, "HOST_GAP", null).slow("B", 501, 501, "HOST_GAP", null);
            assertThat(part(r.token("A", 101), Part.HOST_GAP)).isBetween(650 * MS, 720 * MS);
            assertThat(r.token("A", 101).chain().toString()).doesNotContainIgnoringCase("gc ");
            r.never("HOST_PAUSE", "STREAM_SYNC", "KERNEL_SLOW");
        });
    }

    private static void kernels(CaseScript s, long stepNanos, double scale) {
        long start = s.nowNanos - stepNanos + stepNanos / 50;
        long unit = (long) (stepNanos * 0.9 / 10);
        s.engine(new KernelRan(
                s.name, "gpu-0", "7", s.lastStepId(), "gemm", "gemm", start, unit * 6, null, null, null, 64));
        s.engine(new KernelRan(
                s.name,
                "gpu-0",
                "7",
                s.lastStepId(),
                "attn",
                "attention",
                start + unit * 6,
                unit * 3,
                null,
                null,
                null,
                32));
        s.engine(new KernelRan(
                s.name, "gpu-0", "7", s.lastStepId(), "other", "other", start + unit * 9, unit, null, null, null, 16));
        assertThat(scale).isPositive();
    }

    private static Case thermalSlowdown() {
        CaseScript s = new CaseScript("c26").configured(2048L, 16, null).queued("R", 32);
        s.step(100 * MS, Row.prompt("R", 32));
        for (int i = 0; i < 400; i++) {
            boolean hot = i >= 250;
            if (i % 12 == 0) {
                s.engine(new DeviceSampled(
                        "c26",
                        "gpu-0",
                        hot ? 1_100_000_000L : 1_830_000_000L,
                        null,
                        400_000L,
                        hot ? 92_000L : 70_000L,
                        hot ? "sw-thermal" : null));
            }
            long nanos = about(hot ? 137 * MS : 82 * MS, i);
            s.step(nanos, Row.decode("R"));
            kernels(s, nanos, 1);
        }
        return new Case(s, r -> {
            long thermal = r.of("R", 252, 300).stream()
                    .filter(token -> "THERMAL_CLOCK".equals(token.cause()))
                    .count();
            assertThat(thermal).as("tokens right after the clock fell").isGreaterThan(20);
            assertThat(r.finding("THERMAL_CLOCK").engineId()).isNotNull();
            r.never("BATCH_GROWTH", "CONTEXT_GROWTH", "KV_PRESSURE", "PREFILL_INTERFERENCE", "QUEUE_WAIT");
        });
    }

    private static Case slowerStepWithoutAReason() {
        CaseScript s = new CaseScript("c26b").configured(2048L, 16, null).queued("R", 32);
        s.step(100 * MS, Row.prompt("R", 32)).decode(300, 63 * MS, "R").decode(300, 94 * MS, "R");
        return new Case(s, r -> {
            assertThat(r.token("R", 303).cause()).isEqualTo("UNRESOLVED_STALL");
            r.never("THERMAL_CLOCK", "KERNEL_SLOW", "CONTEXT_GROWTH", "BATCH_GROWTH", "KV_PRESSURE");
        });
    }

    private static Case gatewayReleasesGroups() {
        CaseScript s = new CaseScript("c27").configured(2048L, 16, null);
        s.received("client", "R", s.nowNanos)
                .received("gateway", "R", s.nowNanos + MS)
                .queued("R", 32);
        s.step(250 * MS, Row.prompt("R", 32));
        List<Long> ends = new ArrayList<>();
        ends.add(s.nowNanos);
        for (int i = 1; i < 325; i++) {
            s.step(about(250 * MS, i), Row.decode("R"));
            ends.add(s.nowNanos);
        }
        s.finished("R", "length");
        for (int i = 0; i < 325; i++) {
            long release = ends.get(Math.min(324, i / 65 * 65 + 64)) + 4 * MS;
            long write = release + (i % 65) * 20_000L;
            s.chunk(
                    "gateway",
                    "R",
                    i,
                    1,
                    ends.get(i) + MS,
                    i == 324 ? Finish.LENGTH : Finish.NONE,
                    write,
                    write + 10_000);
            s.chunk("client", "R", i, 1, write + MS, i == 324 ? Finish.LENGTH : Finish.NONE);
        }
        s.completed("gateway", "R", "complete", s.nowNanos + 10 * MS)
                .completed("client", "R", "complete", s.nowNanos + 12 * MS);
        return new Case(s, r -> {
            assertThat(r.causes()).contains("GATEWAY_BUFFERING");
            assertThat(r.findings("GATEWAY_BUFFERING")).isNotEmpty();
            r.quiet("R", 20, 324).never("OUTPUT_STALL", "NETWORK", "CLIENT_SLOW", "HOST_GAP");
        });
    }

    // ---- identity, accounting, stream shape

    private static Case abortedBeforeTheFirstToken() {
        CaseScript s = new CaseScript("c31").configured(2048L, 16, null);
        s.received("client", "R", s.nowNanos).queued("R", 4_000).step(500 * MS, Row.chunk("R", 2_048));
        s.idle(100 * MS).completed("client", "R", "client-closed", s.nowNanos).finished("R", "aborted-by-client");
        return new Case(s, r -> {
            assertThat(r.request("R").ttftNanos()).isNull();
            assertThat(r.request("R").tpotNanos()).isNull();
            assertThat(r.request("R").tokenCount()).isZero();
            assertThat(r.request("R").endReason()).isEqualTo("aborted-by-client");
            assertThat(r.request("R").requestCauses()).contains("CLIENT_ABORT");
            assertThat(r.tokens()).isEmpty();
        });
    }

    private static Case noOutputAtAll() {
        CaseScript s = new CaseScript("c32").configured(2048L, 16, null);
        for (int i = 0; i < 5; i++) {
            s.received("client", "r" + i, s.nowNanos)
                    .chunk("client", "r" + i, 0, 0, s.nowNanos + 5 * MS, Finish.STOP)
                    .completed("client", "r" + i, "complete", s.nowNanos + 6 * MS)
                    .idle(10 * MS);
        }
        return new Case(s, r -> {
            assertThat(r.requests()).hasSize(5);
            assertThat(r.requests()).allSatisfy(request -> {
                assertThat(request.tokenCount()).isZero();
                assertThat(request.tpotNanos()).isNull();
                assertThat(request.ttftNanos()).isNull();
            });
            assertThat(r.findings()).isEmpty();
        });
    }

    private static Case severalTokensInAChunk() {
        CaseScript s = new CaseScript("c33").configured(2048L, 16, null);
        s.received("client", "R", s.nowNanos).queued("R", 32).step(30 * MS, Row.prompt("R", 32));
        s.chunk("client", "R", 0, 1, s.nowNanos + MS, Finish.NONE);
        for (int i = 0; i < 150; i++) {
            s.step(about(8_700_000, i), Row.decode("R", 4));
            s.chunk("client", "R", 1 + 4 * i, 4, s.nowNanos + MS, i == 149 ? Finish.LENGTH : Finish.NONE);
        }
        s.finished("R", "length").completed("client", "R", "complete", s.nowNanos + 2 * MS);
        return new Case(s, r -> {
            assertThat(r.request("R").requestCauses()).contains("MULTI_TOKEN_CHUNK");
            assertThat(r.request("R").tpotNanos()).isBetween(2_000_000L, 2_400_000L);
            r.quiet("R", 1, 600).never("OUTPUT_STALL", "GATEWAY_BUFFERING", "UNRESOLVED_STALL");
        });
    }

    private static Case fourChoices() {
        CaseScript s = new CaseScript("c34").configured(2048L, 16, null);
        s.add(
                "c34/client",
                CaseScript.CLOCK,
                s.nowNanos,
                new io.tokenstair.event.RequestReceived(
                        "client", s.id("P"), null, null, "m", "/v1", null, 100L, null, 4, false));
        for (int choice = 0; choice < 4; choice++) {
            s.engine(new io.tokenstair.event.RequestQueued(
                    "c34", 0, choice + 1, choice + "_cmpl-" + s.id("P") + "-0-0000abcd", null, 100L, null, null));
        }
        for (int i = 0; i < 60; i++) {
            List<io.tokenstair.event.SequenceRow> rows = new ArrayList<>();
            for (int choice = 0; choice < 4; choice++) {
                rows.add(new io.tokenstair.event.SequenceRow(
                        choice + 1,
                        i,
                        1,
                        100 + i,
                        i == 0 ? 100 : 1,
                        i == 0 ? io.tokenstair.event.Phase.PREFILL : io.tokenstair.event.Phase.DECODE,
                        i == 0 ? 0 : null,
                        null,
                        null));
            }
            long start = s.nowNanos;
            s.idle(about(20 * MS, i));
            s.engine(new io.tokenstair.event.StepCompleted(
                    "c34",
                    0,
                    i,
                    start,
                    null,
                    null,
                    s.nowNanos,
                    null,
                    null,
                    null,
                    null,
                    null,
                    null,
                    4,
                    0,
                    10L,
                    1000L,
                    null,
                    null,
                    List.of(),
                    io.tokenstair.event.SequenceRows.of(rows)));
        }
        return new Case(s, r -> {
            assertThat(r.requests()).extracting(RequestAnalysis::sequenceIndex).containsExactlyInAnyOrder(0, 1, 2, 3);
            assertThat(r.requests()).extracting(RequestAnalysis::requestId).containsOnly("c34-P");
            assertThat(r.requests())
                    .allSatisfy(row -> assertThat(row.tokenCount()).isEqualTo(60));
            assertThat(r.requests()).extracting(RequestAnalysis::lifetime).containsOnly(0);
        });
    }

    private static Case hungUpAndCameBack() {
        CaseScript s = new CaseScript("c37").configured(8192L, 8, null);
        List<Long> hashes = new ArrayList<>();
        for (long i = 0; i < 250; i++) {
            hashes.add(5_000 + i);
        }
        s.received("client", "first", s.nowNanos).queued("first", 4_000);
        s.kvBatch = 1L;
        s.step(2 * SECOND, Row.prompt("first", 4_000)).kvBatch = null;
        s.engine(new KvBlocksStored("c37", 0, 1L, null, 0, "GPU", hashes, null, 16, 4_000L))
                .decode(30, 20 * MS, "first");
        s.completed("client", "first", "client-closed", s.nowNanos).finished("first", "aborted-by-client");
        s.engine(new KvBlocksEvicted("c37", 0, 2L, null, 0, "GPU", hashes, false, null));
        s.received("client", "second", s.nowNanos).queued("second", 4_000);
        s.kvBatch = 3L;
        s.step(2 * SECOND, Row.prompt("second", 4_000)).kvBatch = null;
        s.engine(new KvBlocksStored("c37", 0, 3L, null, 0, "GPU", hashes, null, 16, 4_000L))
                .decode(40, 20 * MS, "second");
        return new Case(s, r -> {
            assertThat(r.request("first").requestCauses()).contains("CLIENT_ABORT");
            assertThat(r.request("second").cachedTokens()).isZero();
            assertThat(r.request("second").requestCauses()).contains("PREFIX_HIT_COLLAPSE");
        });
    }

    // ---- output path and engine

    private static Case outputSideStall() {
        CaseScript s = new CaseScript("cE1").configured(2048L, 16, null);
        String[] all = new String[9];
        List<Row> prompts = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
            all[i] = "r" + i;
            s.received("client", all[i], s.nowNanos).queued(all[i], 32);
            prompts.add(Row.prompt(all[i], 32));
        }
        s.step(60 * MS, prompts);
        for (String one : all) {
            s.chunk("client", one, 0, 1, s.nowNanos + MS, Finish.NONE);
        }
        List<Row> rows = new ArrayList<>();
        for (String one : all) {
            rows.add(Row.decode(one));
        }
        long held = 0;
        for (int i = 1; i < 160; i++) {
            s.step(about(19_900_000, i), rows);
            if (i == 100) {
                held = s.nowNanos + 193 * MS;
            }
            for (int k = 0; k < 9; k++) {
                long arrives = s.nowNanos + MS + k * 10_000L;
                s.chunk(
                        "client",
                        all[k],
                        i,
                        1,
                        k < 7 && i >= 100 ? Math.max(arrives, held + k * 10_000L) : arrives,
                        Finish.NONE);
            }
        }
        return new Case(s, r -> {
            assertThat(r.token("r0", 100).deliveryCause()).isEqualTo("OUTPUT_STALL");
            assertThat(r.token("r6", 100).deliveryCause()).isEqualTo("OUTPUT_STALL");
            assertThat(r.token("r8", 100).deliveryCause()).isNull();
            for (String one : all) {
                r.quiet(one, 20, 159);
            }
            r.never("HOST_GAP", "HOST_PAUSE", "UNRESOLVED_STALL", "KERNEL_SLOW");
        });
    }

    private static Case engineIdle() {
        CaseScript s = new CaseScript("cE2").configured(2048L, 16, null).queued("R", 32);
        s.step(60 * MS, Row.prompt("R", 32))
                .decode(125, 19_900_000, "R")
                .idle(350 * MS)
                .decode(100, 19_900_000, "R");
        return new Case(s, r -> {
            r.slow("R", 126, 126, "HOST_GAP", null).never("KERNEL_SLOW", "STREAM_SYNC", "KV_PRESSURE");
            assertThat(part(r.token("R", 126), Part.HOST_GAP)).isBetween(340 * MS, 355 * MS);
        });
    }

    // ---- engines of which only counters are known

    private static Case seatBoundByMetrics() {
        CaseScript s = new CaseScript("cM1");
        for (int i = 0; i < 184; i++) {
            s.metric("vllm:num_requests_running", "engine=\"cM1\"", i < 4 ? 64 * i : 256)
                    .metric("vllm:num_requests_waiting", "engine=\"cM1\"", 120)
                    .metric("vllm:kv_cache_usage_perc", "engine=\"cM1\"", 0.42)
                    .idle(SECOND);
        }
        return new Case(s, r -> {
            r.never("KV_PRESSURE", "PREEMPTION");
            r.findings().forEach(finding -> assertThat(finding.confidence()).isNotEqualTo("established"));
        });
    }

    private static Case cacheBoundByMetrics() {
        CaseScript s = new CaseScript("cM2");
        for (int i = 0; i < 184; i++) {
            s.metric("vllm:num_requests_running", "engine=\"cM2\"", 30 + (i % 4 < 2 ? 9 : -9))
                    .metric("vllm:num_requests_waiting", "engine=\"cM2\"", 100 + i % 50)
                    .metric("vllm:kv_cache_usage_perc", "engine=\"cM2\"", i % 6 == 0 ? 0.9 : 0.985)
                    .idle(SECOND);
        }
        return new Case(s, r -> {
            assertThat(r.finding("KV_PRESSURE").confidence()).isEqualTo("consistent-with");
            r.never("SEAT_LIMIT", "PREEMPTION", "PREEMPTION_STORM");
        });
    }

    private static Case usageAlwaysZero() {
        CaseScript s = new CaseScript("cM3");
        for (int i = 0; i < 120; i++) {
            s.metric("vllm:num_requests_running", "engine=\"cM3\"", 40 + i % 7)
                    .metric("vllm:num_requests_waiting", "engine=\"cM3\"", 0)
                    .metric("vllm:kv_cache_usage_perc", "engine=\"cM3\"", 0.0)
                    .idle(SECOND);
        }
        return new Case(s, r -> r.never("KV_PRESSURE", "SEAT_LIMIT", "PREFIX_HIT_COLLAPSE"));
    }

    // ---- clocks and identity

    /** The first chunk is stamped by a time that another host measured: the second seems to come before it. */
    private static Case firstChunkBeforeTheSending() {
        CaseScript s = new CaseScript("c28");
        s.received("client", "R", s.nowNanos).idle(50 * MS);
        for (int i = 0; i < 60; i++) {
            s.idle(about(20 * MS, i));
            long stamped = s.nowNanos + (i == 0 ? 45 * MS : 0);
            s.add(
                    "c28/client",
                    CaseScript.CLOCK,
                    s.nowNanos,
                    new ChunkDelivered(
                            "client",
                            s.id("R"),
                            List.of(new Chunk(
                                    0, i, i, 1, 200, stamped, i == 59 ? Finish.LENGTH : Finish.NONE, null, null))));
        }
        s.completed("client", "R", "complete", s.nowNanos + 2 * MS);
        return new Case(s, r -> {
            RequestAnalysis request = r.request("R");
            assertThat(request.invalidStamps()).isPositive();
            assertThat(request.tokenCount()).isEqualTo(60);
            assertThat(request.tpotNanos()).isBetween(18 * MS, 22 * MS);
            assertThat(r.token("R", 1).gapNanos()).isNull();
            assertThat(r.tokens())
                    .extracting(TokenAnalysis::gapNanos)
                    .allSatisfy(gap -> assertThat(gap == null || gap > 0).isTrue());
            r.never("OUTPUT_STALL", "NETWORK", "UNRESOLVED_STALL", "HOST_GAP");
        });
    }

    private static Case twoUsesOfOneIdAtOnce() {
        CaseScript s = new CaseScript("c30").configured(2048L, 16, null);
        s.received("client", "R", s.nowNanos).queued("R", 32).step(30 * MS, Row.prompt("R", 32));
        s.decode(20, 20 * MS, "R");
        // The same id again while the first still runs; the engine tells them apart by a suffix of its own.
        s.received("client", "R", s.nowNanos).queuedAgain("R", "R#2", 64);
        s.step(35 * MS, Row.decode("R"), Row.prompt("R#2", 64)).decode(30, 20 * MS, "R", "R#2");
        s.finished("R", "stop").decode(25, 20 * MS, "R#2").finished("R#2", "length");
        return new Case(s, r -> {
            assertThat(r.requests()).extracting(RequestAnalysis::requestId).containsOnly("c30-R");
            assertThat(r.requests()).extracting(RequestAnalysis::lifetime).containsExactlyInAnyOrder(0, 1);
            assertThat(r.requests()).extracting(RequestAnalysis::tokenCount).containsExactlyInAnyOrder(52L, 56L);
            assertThat(r.tokens())
                    .extracting(token -> token.lifetime() + "/" + token.tokenIndex())
                    .doesNotHaveDuplicates();
            assertThat(r.tokens())
                    .allSatisfy(token -> assertThat(token.gapNanos())
                            .satisfiesAnyOf(
                                    g -> assertThat(g).isNull(),
                                    g -> assertThat(g).isPositive()));
            r.never("UNRESOLVED_STALL", "PREEMPTION");
        });
    }

    private static Case prefillAndDecodeEngine() {
        CaseScript s = new CaseScript("c30b").configured(2048L, 16, null);
        CaseScript prefill = new CaseScript("c30b", "c30b/prefill").configured(8192L, 16, null);
        s.received("client", "R", s.nowNanos);
        prefill.queued("R", 4_000).step(400 * MS, Row.prompt("R", 4_000)).finished("R", "length");
        s.idle(prefill.nowNanos - s.nowNanos + 5 * MS).queued("R", 4_000);
        s.step(22 * MS, Row.prompt("R", 1).cached(3_999))
                .decode(60, 20 * MS, "R")
                .finished("R", "stop");
        s.completed("client", "R", "complete", s.nowNanos + MS);
        s.events.addAll(prefill.events);
        return new Case(s, r -> {
            assertThat(r.requests()).hasSize(1);
            assertThat(r.request("R").engines()).containsExactly("c30b/prefill", "c30b");
            assertThat(r.request("R").lifetime()).isZero();
            assertThat(r.request("R").tokenCount()).isEqualTo(61);
            assertThat(r.tokens()).extracting(TokenAnalysis::tokenIndex).doesNotHaveDuplicates();
            r.never("PREEMPTION", "RECOMPUTE");
        });
    }

    /** Numbers 1 to 9 and 12 arrive, 10 and 11 are replayed late, and some of all come again. */
    private static Case cacheEventsLostAndReplayed() {
        CaseScript s = new CaseScript("c39").configured(8192L, 16, null);
        for (long batch = 1; batch <= 12; batch++) {
            String request = "t" + batch;
            s.queued(request, 1_600);
            s.kvBatch = batch;
            s.step(200 * MS, Row.prompt(request, 1_600)).kvBatch = null;
            if (batch != 10 && batch != 11) {
                s.engine(blocks(batch));
            }
            s.decode(20, 20 * MS, request).finished(request, "stop");
        }
        for (long batch : new long[] {10, 11, 9, 10, 11, 12, 3}) {
            s.engine(blocks(batch));
        }
        // A prefix that was replayed late and never evicted is found, one that was evicted is computed again once.
        s.engine(new KvBlocksEvicted("c39", 0, 13L, null, 0, "GPU", hashes(10), false, null));
        s.queued("again", 1_600).kvBatch = 14L;
        s.step(200 * MS, Row.prompt("again", 1_600)).kvBatch = null;
        KvBlocksStored stored = new KvBlocksStored("c39", 0, 14L, null, 0, "GPU", hashes(10), null, 16, 1_600L);
        s.engine(stored).engine(stored).decode(20, 20 * MS, "again").finished("again", "stop");
        return new Case(s, r -> {
            for (int batch = 1; batch <= 12; batch++) {
                assertThat(r.request("t" + batch).requestCauses())
                        .as("t" + batch)
                        .doesNotContain("PREFIX_HIT_COLLAPSE");
            }
            assertThat(r.request("again").requestCauses()).containsOnlyOnce("PREFIX_HIT_COLLAPSE");
            assertThat(r.findings("PREFIX_HIT_COLLAPSE")).hasSize(1);
            assertThat(r.finding("PREFIX_HIT_COLLAPSE").narrative()).contains("1600 of its 1600 prompt tokens");
            r.never("KV_PRESSURE", "PREEMPTION", "RECOMPUTE");
        });
    }

    private static List<Long> hashes(long batch) {
        List<Long> hashes = new ArrayList<>();
        for (long i = 0; i < 100; i++) {
            hashes.add(39_000_000 + 1_000 * batch + i);
        }
        return hashes;
    }

    private static KvBlocksStored blocks(long batch) {
        return new KvBlocksStored("c39", 0, batch, null, 0, "GPU", hashes(batch), null, 16, 1_600L);
    }

    /** As long as an id may be, with control characters in it; longer ones are refused where events are written. */
    private static Case hugeId() {
        CaseScript s = new CaseScript("c40").configured(2048L, 16, null);
        String huge = "R\u0007\n\"" + "x".repeat(200);
        s.received("client", huge, s.nowNanos).queued(huge, 32).step(30 * MS, Row.prompt(huge, 32));
        s.chunk("client", huge, 0, 1, s.nowNanos + MS, Finish.NONE);
        for (int i = 1; i < 50; i++) {
            s.step(about(20 * MS, i), Row.decode(huge));
            s.chunk("client", huge, i, 1, s.nowNanos + MS, i == 49 ? Finish.LENGTH : Finish.NONE);
        }
        s.finished(huge, "length").completed("client", huge, "complete", s.nowNanos + 2 * MS);
        return new Case(s, r -> {
            assertThat(r.requests()).hasSize(1);
            RequestAnalysis request = r.requests().get(0);
            assertThat(request.requestId()).isEqualTo(s.id(huge));
            assertThat(request.tokenCount()).isEqualTo(50);
            assertThat(request.ttftNanos()).isBetween(30 * MS, 32 * MS);
            assertThat(r.tokens()).hasSize(50);
        });
    }
}
