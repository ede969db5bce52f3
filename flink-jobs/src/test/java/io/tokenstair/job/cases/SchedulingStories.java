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
import java.util.List;
import java.util.Map;

/**
 * Stories of scheduler and KV cache in which two causes share one gap, one engine of several has the cause, or what happened is like a cause and
 * is none. Written as {@link OperatorVariants} are.
 */
final class SchedulingStories {
    private SchedulingStories() {}

    static List<EventText> all() {
        return List.of(
                starvedByPromptsThenByTheBudget(),
                starvedByTheBudgetThenByPrompts(),
                leftOutWithBudgetToSpare(),
                recomputedBesideASmallerPrompt(),
                recomputedBesideALargerPrompt(),
                preemptedDuringAPauseOfTheHost(),
                preemptedAndAbortedBeforeItCameBack(),
                preemptedAndBackWithAllItsBlocks(),
                preemptedOnTheDecodeEngineOfAPair(),
                moreUrgentOneTookItsBlocks(),
                anotherEngineNeverHadThePrefix(),
                prefixFoundInHalf(),
                seatsOfOneRankBlocksOfTheOther(),
                transferThenASeat(),
                promptBesideDrafts(),
                longContextJoinsByTransfer(),
                moreSequencesBesideAFullCache(),
                stormOfOneEngineOfTwo(),
                startedAnewWhilePreempted(),
                earlierOneComesBackFirst(),
                promptOfAnotherFlushesThePrefix(),
                neighbourRunsOutOfBlocks(),
                draftsComputedAgainWithoutARecord(),
                starvedOnOneRankOnly());
    }

    // ---- left out of steps

    private static EventText starved(String name, int promptSteps, int budgetSteps) {
        EventText s = new EventText(name);
        s.engine("EngineConfigured", "tokenBudgetTokens", 1_024, "maxSequencesCount", 64);
        s.queued("A", 60).queued("C", 60);
        s.step(20 * MS, List.of(s.prompt("A", 60), s.prompt("C", 60))).decode(150, 13 * MS, "A", "C");
        s.queued("B", 200_000);
        for (int i = 0; i < promptSteps; i++) {
            s.step(about(110 * MS, i), List.of(i == 0 ? s.firstChunk("B", 1_024) : s.chunk("B", 1_024)));
        }
        for (int i = 0; i < budgetSteps; i++) {
            s.step(about(115 * MS, i), s.with(s.decodes("C"), s.chunk("B", 1_023)));
        }
        return s.decode(80, 13 * MS, "A", "C");
    }

    private static EventText starvedByPromptsThenByTheBudget() {
        return starved("x01", 7, 2).then(r -> {
            r.slow("A", 151, 151, "DECODE_STARVED_BY_PREFILL", "B")
                    .slow("C", 151, 151, "DECODE_STARVED_BY_PREFILL", "B");
            assertThat(part(r.token("A", 151), Part.SKIPPED_WAIT)).isBetween(950 * MS, 1_050 * MS);
            assertThat(part(r.token("C", 151), Part.SKIPPED_WAIT)).isBetween(740 * MS, 800 * MS);
            r.slow("C", 152, 152, "PREFILL_INTERFERENCE", "B");
            r.quiet("A", 20, 150).quiet("A", 152, 230);
            r.never("TOKEN_BUDGET_STARVATION", "PREEMPTION", "KV_PRESSURE", "HOST_GAP", "UNRESOLVED_STALL");
        });
    }

    private static EventText starvedByTheBudgetThenByPrompts() {
        return starved("x02", 1, 9).then(r -> {
            r.slow("A", 151, 151, "TOKEN_BUDGET_STARVATION", "B");
            r.quiet("A", 20, 150).quiet("A", 152, 230);
            r.never("PREEMPTION", "KV_PRESSURE", "HOST_GAP", "UNRESOLVED_STALL", "CONTEXT_STAIRCASE");
        });
    }

    private static EventText leftOutWithBudgetToSpare() {
        EventText s = new EventText("x03");
        s.engine("EngineConfigured", "tokenBudgetTokens", 8_192, "maxSequencesCount", 64);
        String[] all = {"a", "b", "c", "d"};
        for (String one : all) {
            s.queued(one, 60).step(20 * MS, List.of(s.prompt(one, 60)));
        }
        s.decode(120, 15 * MS, all).decode(25, 15 * MS, "a", "b", "c").decode(60, 15 * MS, all);
        return s.then(r -> {
            r.slow("d", 121, 121, "UNRESOLVED_STALL", null);
            assertThat(part(r.token("d", 121), Part.SKIPPED_WAIT)).isBetween(365 * MS, 385 * MS);
            r.quiet("a", 20, 205);
            r.never("TOKEN_BUDGET_STARVATION", "DECODE_STARVED_BY_PREFILL", "PREEMPTION", "QUEUE_WAIT", "HOST_GAP");
        });
    }

    // ---- preemption beside another cause

    /** What a prompt costs is known when one of the running requests loses its blocks. */
    private static EventText recomputedBeside(String name, int waits, int again, int prompt) {
        EventText s = new EventText(name);
        s.queued("A", 60).queued("R", 2_000);
        s.step(220 * MS, List.of(s.prompt("A", 60), s.prompt("R", 2_000))).decode(60, 14 * MS, "A", "R");
        for (int i = 0; i < 12; i++) {
            String other = "p" + i;
            int tokens = 300 + 250 * (i % 5);
            s.queued(other, tokens);
            s.step(about((14 + tokens / 10) * MS, i), s.with(s.decodes("A", "R"), s.prompt(other, tokens)));
            s.finished(other, "length").decode(8, 14 * MS, "A", "R");
        }
        s.preempted("R", "A").decode(waits, 14 * MS, "A").queued("B", prompt);
        List<Map<String, Object>> rows = s.with(s.decodes("A"), s.prompt("B", prompt));
        rows.add(s.row("R", "resumed", again, 1, "cachedTokens", 2_169 - again));
        s.step((14 + (prompt + again) / 10) * MS, rows);
        return s.decode(60, 14 * MS, "A", "R", "B");
    }

    private static EventText recomputedBesideASmallerPrompt() {
        return recomputedBeside("x04", 5, 2_169, 900).then(r -> {
            r.slow("R", 169, 169, "PREEMPTION", "A").slow("A", 174, 174, "RECOMPUTE", "R");
            assertThat(part(r.token("R", 169), Part.PREEMPTED_WAIT)).isBetween(60 * MS, 80 * MS);
            assertThat(part(r.token("R", 169), Part.RECOMPUTE_OWN)).isPositive();
            assertThat(part(r.token("R", 169), Part.PREFILL)).isPositive();
            assertThat(part(r.token("A", 174), Part.RECOMPUTE_OTHER))
                    .isGreaterThan(part(r.token("A", 174), Part.PREFILL));
            r.never("PREEMPTION_LOOP", "PREEMPTION_STORM", "KV_OFFLOAD", "TOKEN_BUDGET_STARVATION", "HOST_GAP");
        });
    }

    private static EventText recomputedBesideALargerPrompt() {
        return recomputedBeside("x05", 30, 400, 2_600).then(r -> {
            // It waited for longer than the other's prompt took.
            r.slow("R", 169, 169, "PREEMPTION", "A").slow("A", 199, 199, "PREFILL_INTERFERENCE", "B");
            r.never("PREEMPTION_LOOP", "PREEMPTION_STORM", "RECOMPUTE", "TOKEN_BUDGET_STARVATION", "HOST_GAP");
        });
    }

    private static EventText preemptedDuringAPauseOfTheHost() {
        EventText s = new EventText("x06");
        s.queued("A", 60).queued("R", 300);
        s.step(50 * MS, List.of(s.prompt("A", 60), s.prompt("R", 300))).decode(120, 14 * MS, "A", "R");
        s.preempted("R", "A").decode(4, 14 * MS, "A");
        long from = s.nowNanos;
        s.step(640 * MS, s.decodes("A"));
        s.put(
                "HostPaused",
                "x06/host",
                "engineId",
                "x06",
                "processRole",
                "engine",
                "startNanos",
                from + 4 * MS,
                "endNanos",
                from + 630 * MS,
                "clockNanos",
                from + 630 * MS);
        s.decode(4, 14 * MS, "A");
        s.step(60 * MS, s.with(s.decodes("A"), s.resumed("R", 421, true))).decode(60, 14 * MS, "A", "R");
        return s.then(r -> {
            // The pause fell into time that the request had no part in: that is its wait.
            r.slow("R", 121, 121, "PREEMPTION", "A").slow("A", 125, 125, "HOST_PAUSE", null, "engine");
            assertThat(part(r.token("R", 121), Part.PREEMPTED_WAIT)).isBetween(740 * MS, 770 * MS);
            assertThat(part(r.token("R", 121), Part.HOST_PAUSE)).isZero();
            r.never("PREEMPTION_LOOP", "PREEMPTION_STORM", "UNRESOLVED_STALL", "HOST_GAP");
        });
    }

    private static EventText preemptedAndAbortedBeforeItCameBack() {
        EventText s = new EventText("x07");
        s.received("client", "R").queued("A", 60).queued("R", 300);
        s.step(50 * MS, List.of(s.prompt("A", 60), s.prompt("R", 300))).decode(120, 14 * MS, "A", "R");
        s.preempted("R", "A").decode(50, 14 * MS, "A");
        s.completed("client", "R", "client-closed", s.nowNanos - 3 * MS).finished("R", "aborted");
        s.decode(60, 14 * MS, "A");
        return s.then(r -> {
            assertThat(r.request("R").tokenCount()).isEqualTo(121);
            assertThat(r.request("R").preemptions()).isEqualTo(1);
            assertThat(r.request("R").requestCauses()).contains("CLIENT_ABORT");
            r.quiet("A", 20, 230).quiet("R", 20, 120);
            r.never("PREEMPTION_LOOP", "PREEMPTION_STORM", "PREEMPTED_THEN_OVERTAKEN", "RECOMPUTE", "UNRESOLVED_STALL");
        });
    }

    /** Its blocks were kept: it waits four times and computes nothing twice. */
    private static EventText preemptedAndBackWithAllItsBlocks() {
        EventText s = new EventText("x08");
        s.queued("A", 60).queued("R", 600);
        s.step(80 * MS, List.of(s.prompt("A", 60), s.prompt("R", 600))).decode(100, 14 * MS, "A", "R");
        int context = 701;
        for (int round = 0; round < 4; round++) {
            s.preempted("R", "A").decode(20, 14 * MS, "A");
            s.step(15 * MS, s.with(s.decodes("A"), s.row("R", "resumed", 1, 1, "cachedTokens", context - 1)));
            s.decode(20, 14 * MS, "A", "R");
            context += 21;
        }
        return s.then(r -> {
            for (int round = 0; round < 4; round++) {
                r.slow("R", 101 + 21 * round, 101 + 21 * round, "PREEMPTION", "A");
            }
            assertThat(r.request("R").preemptions()).isEqualTo(4);
            r.quiet("A", 20, 260);
            r.never("PREEMPTION_LOOP", "PREEMPTION_STORM", "RECOMPUTE", "KV_OFFLOAD", "UNRESOLVED_STALL");
        });
    }

    private static EventText transfer(EventText s, String request, long from, Object... pairs) {
        List<Object> all = new ArrayList<>(List.of(
                "engineRequestId",
                s.id(request),
                "transferKind",
                "remote",
                "direction",
                "load",
                "startNanos",
                from,
                "peer",
                "prefill-1"));
        all.addAll(List.of(pairs));
        return s.engine("KvTransferred", all.toArray());
    }

    /** Its blocks came from another node at first; after the preemption it computes them here. */
    private static EventText preemptedOnTheDecodeEngineOfAPair() {
        EventText s = new EventText("x09");
        s.queued("A", 60)
                .step(20 * MS, List.of(s.prompt("A", 60)))
                .decode(60, 14 * MS, "A")
                .queued("R", 3_000);
        long from = s.nowNanos;
        s.decode(40, 14 * MS, "A");
        transfer(s, "R", from, "endNanos", s.nowNanos);
        s.step(16 * MS, s.with(s.decodes("A"), s.row("R", "prefill", 1, 1, "cachedTokens", 2_999)));
        s.decode(60, 14 * MS, "A", "R").preempted("R", "A").decode(10, 14 * MS, "A");
        s.step(330 * MS, s.with(s.decodes("A"), s.resumed("R", 3_061, true))).decode(60, 14 * MS, "A", "R");
        return s.then(r -> {
            assertThat(r.token("R", 0).cause()).isEqualTo("REMOTE_KV_ADMISSION");
            r.slow("R", 61, 61, "PREEMPTION", "A").slow("A", 172, 172, "RECOMPUTE", "R");
            assertThat(part(r.token("R", 61), Part.TRANSFER_WAIT)).isZero();
            r.never("KV_OFFLOAD", "PREFIX_HIT_COLLAPSE", "PREFILL_INTERFERENCE", "PREEMPTION_LOOP", "SEAT_LIMIT");
        });
    }

    private static EventText moreUrgentOneTookItsBlocks() {
        EventText s = new EventText("x10");
        s.queued("A", 60, "priority", 2).queued("R", 900, "priority", 5);
        s.step(110 * MS, List.of(s.prompt("A", 60), s.prompt("R", 900))).decode(90, 14 * MS, "A", "R");
        s.queued("U", 700, "priority", 1).preempted("R", "U");
        s.step(85 * MS, s.with(s.decodes("A"), s.prompt("U", 700)))
                .decode(40, 14 * MS, "A", "U")
                .finished("U", "stop");
        s.step(110 * MS, s.with(s.decodes("A"), s.resumed("R", 991, true))).decode(60, 14 * MS, "A", "R");
        return s.then(r -> {
            r.slow("R", 91, 91, "PREEMPTION", "U").slow("A", 91, 91, "PREFILL_INTERFERENCE", "U");
            r.never("PREEMPTED_THEN_OVERTAKEN", "PREEMPTION_LOOP", "PREEMPTION_STORM", "QUEUE_WAIT", "SEAT_LIMIT");
        });
    }

    // ---- the prefix cache

    private static void turn(EventText s, String request, int cached, long batch, List<Long> stored) {
        s.queued(request, 1_632);
        s.step(
                (30 + (1_632 - cached) / 10) * MS,
                List.of(s.row(request, "prefill", 1_632 - cached, 1, "cachedTokens", cached)),
                "kvBatchSequence",
                batch);
        if (!stored.isEmpty()) {
            s.stored(batch, stored);
        }
        s.decode(30, 18 * MS, request).finished(request, "stop");
    }

    /** A router sends one turn to an engine that never had the prefix: nothing was lost there. */
    private static EventText anotherEngineNeverHadThePrefix() {
        EventText s = new EventText("x11");
        EventText other = s.beside("x11/other", 0, "x11/other");
        s.engine("EngineConfigured", "blockSizeTokens", 16);
        other.engine("EngineConfigured", "blockSizeTokens", 16);
        for (int i = 0; i < 6; i++) {
            turn(s, "t" + i, i == 0 ? 0 : 1_600, i + 1, hashes(920_000, i == 0 ? 102 : 0));
        }
        other.nowNanos = s.nowNanos;
        turn(other, "t6", 0, 1, hashes(920_000, 102));
        s.nowNanos = other.nowNanos;
        turn(s, "t7", 1_600, 7, List.of());
        return s.then(r -> r.never("PREFIX_HIT_COLLAPSE", "KV_PRESSURE", "PREEMPTION", "RECOMPUTE", "QUEUE_WAIT"));
    }

    /** The second half of the prefix was evicted before the sixth turn: what is found is far less, and not nothing. */
    private static EventText prefixFoundInHalf() {
        EventText s = new EventText("x12");
        s.engine("EngineConfigured", "blockSizeTokens", 16);
        for (int i = 0; i < 8; i++) {
            if (i == 5) {
                s.evicted(6, hashes(920_040, 62));
            }
            List<Long> stored = i == 0 ? hashes(920_000, 102) : i == 5 ? hashes(920_040, 62) : List.of();
            turn(s, "t" + i, i == 0 ? 0 : i == 5 ? 640 : 1_600, i < 5 ? i + 1 : i + 2, stored);
        }
        return s.then(r -> {
            assertThat(r.findings("PREFIX_HIT_COLLAPSE"))
                    .extracting(Finding::requestId)
                    .containsExactly("x12-t5");
            // Blocks were evicted and then needed: that is pressure on the engine's cache, and on no token.
            assertThat(r.tokens()).extracting(TokenAnalysis::cause).doesNotContain("KV_PRESSURE");
            r.never("PREEMPTION", "RECOMPUTE", "KV_OFFLOAD", "PREEMPTION_STORM");
        });
    }

    // ---- seats, blocks, transfers

    private static void lateOfRank(EventText s, String mark, int seats, long usedBefore, long usedAfter) {
        s.engine("EngineConfigured", "maxSequencesCount", seats, "kvTotalBlocksCount", 1_000, "blockSizeTokens", 16);
        String[] all = {mark + "a", mark + "b", mark + "c"};
        for (String one : all) {
            s.queued(one, 4_000).step(200 * MS, List.of(s.prompt(one, 4_000)));
        }
        s.ofSteps.put("runningCount", 3);
        s.ofSteps.put("kvUsedBlocksCount", usedBefore);
        s.decode(90, 15 * MS, all).queued(mark + "late", 5_000);
        s.ofSteps.put("waitingCount", 1);
        s.decode(100, 15 * MS, all).finished(all[0], "stop");
        s.ofSteps.put("kvUsedBlocksCount", usedAfter);
        s.step(260 * MS, s.with(s.decodes(all[1], all[2]), s.prompt(mark + "late", 5_000)));
        s.decode(40, 15 * MS, all[1], all[2], mark + "late");
    }

    private static EventText seatsOfOneRankBlocksOfTheOther() {
        EventText s = new EventText("x13");
        EventText one = s.beside("x13", 1, "x13/rank-1");
        lateOfRank(s, "s", 3, 300, 250);
        lateOfRank(one, "k", 64, 790, 540);
        return s.then(r -> {
            assertThat(r.token("slate", 0).cause()).isEqualTo("SEAT_LIMIT");
            assertThat(r.token("klate", 0).cause()).isEqualTo("KV_PRESSURE");
            assertThat(r.token("klate", 0).culpritRequestId()).startsWith("x13-k");
            r.never("PREEMPTION", "PREEMPTION_STORM", "QUEUE_WAIT", "HOST_GAP");
        });
    }

    /** Its blocks were there after 300 ms; then every seat was taken for 1.2 s. */
    private static EventText transferThenASeat() {
        EventText s = new EventText("x14");
        s.engine("EngineConfigured", "maxSequencesCount", 2, "kvTotalBlocksCount", 9_000, "blockSizeTokens", 16);
        s.ofSteps.put("kvUsedBlocksCount", 700L);
        s.ofSteps.put("runningCount", 2);
        s.queued("a", 150).queued("b", 150);
        s.step(40 * MS, List.of(s.prompt("a", 150), s.prompt("b", 150)))
                .decode(80, 15 * MS, "a", "b")
                .queued("w", 2_000);
        s.ofSteps.put("waitingCount", 1);
        long from = s.nowNanos;
        s.decode(20, 15 * MS, "a", "b");
        transfer(s, "w", from, "endNanos", s.nowNanos);
        s.decode(80, 15 * MS, "a", "b").finished("a", "stop");
        s.ofSteps.put("waitingCount", 0);
        s.step(15 * MS, s.with(s.decodes("b"), s.row("w", "prefill", 1, 1, "cachedTokens", 1_999)));
        s.decode(60, 15 * MS, "b", "w");
        return s.then(r -> {
            assertThat(r.token("w", 0).cause()).isEqualTo("SEAT_LIMIT");
            assertThat(part(r.token("w", 0), Part.TRANSFER_WAIT)).isBetween(280 * MS, 320 * MS);
            assertThat(part(r.token("w", 0), Part.QUEUE_WAIT)).isBetween(1_150 * MS, 1_250 * MS);
            r.quiet("b", 20, 240).never("REMOTE_KV_ADMISSION", "KV_PRESSURE", "PREEMPTION", "QUEUE_WAIT");
        });
    }

    // ---- what a step holds

    private static EventText promptBesideDrafts() {
        EventText s = new EventText("x15");
        s.queued("R", 40).step(20 * MS, List.of(s.prompt("R", 40)));
        int next = 1;
        int slow = 0;
        for (int i = 0; i < 160; i++) {
            int accepted = 1 + i * 7 % 5;
            List<Map<String, Object>> rows = List.of(s.row("R", "decode", accepted, accepted));
            if (i == 100) {
                slow = next;
                s.queued("B", 3_000)
                        .step(320 * MS, s.with(rows, s.prompt("B", 3_000)))
                        .finished("B", "length");
            } else {
                s.step(about(20 * MS, i), rows);
            }
            next += accepted;
        }
        int at = slow;
        int count = next;
        return s.then(r -> {
            r.slow("R", at, at, "PREFILL_INTERFERENCE", "B")
                    .quiet("R", 20, at - 1)
                    .quiet("R", at + 5, count);
            assertThat(r.request("R").tokenCount()).isEqualTo(count);
            r.never("UNRESOLVED_STALL", "BATCH_GROWTH", "OUTPUT_STALL", "KERNEL_SLOW", "CONTEXT_STAIRCASE");
        });
    }

    /** Steps take 10 ms and 1 ms more for every 5,000 tokens of context; the long one brings 60,000 at once. */
    private static EventText longContextJoinsByTransfer() {
        EventText s = new EventText("x16");
        s.queued("A", 500).queued("C", 500);
        s.step(110 * MS, List.of(s.prompt("A", 500), s.prompt("C", 500)));
        int[] contexts = {8_000, 20_000, 14_000, 30_000, 60_000};
        for (int i = 0; i < contexts.length; i++) {
            String joins = "L" + i;
            s.decode(60, 10_200_000, "A", "C").queued(joins, contexts[i]);
            long from = s.nowNanos;
            s.decode(5, 10_200_000, "A", "C");
            transfer(s, joins, from, "endNanos", s.nowNanos);
            long each = 10_200_000 + contexts[i] / 5 * 1_000L;
            s.step(each, s.with(s.decodes("A", "C"), s.row(joins, "prefill", 1, 1, "cachedTokens", contexts[i] - 1)));
            s.decode(60, each, "A", "C", joins).finished(joins, "length");
        }
        // With the fifth: tokens 4 * 126 + 66 and after.
        return s.then(r -> {
            assertThat(r.of("A", 575, 625).stream().map(TokenAnalysis::cause))
                    .filteredOn("CONTEXT_GROWTH"::equals)
                    .hasSizeGreaterThan(40);
            assertThat(r.token("A", 600).culpritRequestId()).isEqualTo("x16-L4");
            // The first two joins cannot be told from a batch of one more.
            assertThat(r.of("A", 255, 900).stream().map(TokenAnalysis::cause)).doesNotContain("BATCH_GROWTH");
            r.never("KV_PRESSURE", "PREEMPTION", "CONTEXT_STAIRCASE", "RECOMPUTE", "UNRESOLVED_STALL", "SEAT_LIMIT");
        });
    }

    private static EventText moreSequencesBesideAFullCache() {
        EventText s = new EventText("x17");
        s.engine("EngineConfigured", "kvTotalBlocksCount", 2_000, "blockSizeTokens", 16, "maxSequencesCount", 256);
        s.ofSteps.put("kvUsedBlocksCount", 1_990L);
        int[] sizes = {4, 12, 8, 20, 4, 40};
        int queued = 0;
        for (int round = 0; round < sizes.length; round++) {
            String[] all = new String[sizes[round]];
            List<Map<String, Object>> prompts = new ArrayList<>();
            for (int i = 0; i < all.length; i++) {
                all[i] = "r" + i;
                if (i >= queued) {
                    s.queued(all[i], 32);
                    prompts.add(s.prompt(all[i], 32));
                }
            }
            if (!prompts.isEmpty()) {
                List<Map<String, Object>> rows = new ArrayList<>();
                for (int i = 0; i < queued && i < all.length; i++) {
                    rows.add(s.decode("r" + i));
                }
                rows.addAll(prompts);
                s.step((10 + all.length) * MS, rows);
            }
            for (int i = all.length; i < queued; i++) {
                s.finished("r" + i, "length");
            }
            queued = all.length;
            s.decode(60, (8 + all.length) * MS, all);
        }
        // The last round: 48 ms a step where 12 and 28 had been.
        return s.then(r -> {
            assertThat(r.of("r0", 315, 360).stream().map(TokenAnalysis::cause))
                    .filteredOn("BATCH_GROWTH"::equals)
                    .hasSizeGreaterThan(30);
            r.never(
                    "KV_PRESSURE",
                    "PREEMPTION",
                    "CONTEXT_STAIRCASE",
                    "CONTEXT_GROWTH",
                    "UNRESOLVED_STALL",
                    "KERNEL_SLOW");
        });
    }

    // ---- several engines

    private static EventText stormOfOneEngineOfTwo() {
        EventText s = new EventText("x18");
        EventText calm = s.beside("x18/calm", 0, "x18/calm");
        calm.queued("Z", 60).step(20 * MS, List.of(calm.prompt("Z", 60))).decode(4_000, 15 * MS, "Z");
        s.queued("A", 60).queued("R", 1_500).queued("S", 1_500);
        s.step(320 * MS, List.of(s.prompt("A", 60), s.prompt("R", 1_500), s.prompt("S", 1_500)));
        s.decode(60, 15 * MS, "A", "R", "S");
        int[] contexts = {1_561, 1_561};
        String[] victims = {"R", "S"};
        for (int round = 0; round < 160; round++) {
            int victim = round % 2;
            String other = victims[1 - victim];
            s.preempted(victims[victim], other).decode(6, 15 * MS, "A", other);
            contexts[1 - victim] += 6;
            s.step(175 * MS, s.with(s.decodes("A", other), s.resumed(victims[victim], contexts[victim], true)));
            contexts[1 - victim]++;
            contexts[victim]++;
            s.decode(6, 15 * MS, "A", "R", "S");
            contexts[0] += 6;
            contexts[1] += 6;
        }
        return s.then(r -> {
            assertThat(r.finding("PREEMPTION_STORM").engineId()).isEqualTo("x18");
            assertThat(r.findings()).noneMatch(finding -> "x18/calm".equals(finding.engineId()));
            assertThat(r.of("R", 61, 61).get(0).cause()).isEqualTo("PREEMPTION");
            assertThat(r.requests())
                    .filteredOn(request -> request.requestId().equals("x18-Z"))
                    .extracting(RequestAnalysis::preemptions)
                    .allSatisfy(count -> assertThat(count).isZero());
            assertThat(s.nowNanos).isGreaterThan(40 * SECOND);
            r.quiet("Z", 20, 4_000).never("HOST_GAP", "UNRESOLVED_STALL", "PREFILL_INTERFERENCE", "CONTEXT_STAIRCASE");
        });
    }

    // ---- once more, with other layers missing

    /** The engine is started anew while a request waits preempted; its router sends it again under its old id. */
    private static EventText startedAnewWhilePreempted() {
        EventText s = new EventText("x19");
        s.collectorEpoch = 1;
        s.queued("A", 60).queued("R", 300);
        s.step(50 * MS, List.of(s.prompt("A", 60), s.prompt("R", 300))).decode(80, 14 * MS, "A", "R");
        s.preempted("R", "A").decode(5, 14 * MS, "A");
        s.collectorEpoch = 2;
        s.idle(20 * SECOND).stepId = 0;
        s.queued("R", 300)
                .step(45 * MS, List.of(s.prompt("R", 300)))
                .decode(80, 14 * MS, "R")
                .finished("R", "stop");
        return s.then(r -> {
            assertThat(r.requests())
                    .filteredOn(request -> request.requestId().equals("x19-R"))
                    .extracting(RequestAnalysis::lifetime)
                    .containsExactlyInAnyOrder(0, 1);
            assertThat(r.tokens())
                    .extracting(token -> token.requestId() + token.lifetime() + "/" + token.tokenIndex())
                    .doesNotHaveDuplicates();
            assertThat(r.tokens()).extracting(TokenAnalysis::cause).doesNotContain("PREEMPTION", "RECOMPUTE");
            r.never("PREEMPTED_THEN_OVERTAKEN", "PREEMPTION_LOOP", "PREEMPTION_STORM", "HOST_GAP", "UNRESOLVED_STALL");
        });
    }

    /** Two lose their blocks; the one that had started earlier comes back first, and has every right to. */
    private static EventText earlierOneComesBackFirst() {
        EventText s = new EventText("x20");
        s.queued("A", 60, "priority", 1);
        s.step(20 * MS, List.of(s.prompt("A", 60))).decode(30, 14 * MS, "A");
        s.queued("early", 400, "priority", 1).step(54 * MS, s.with(s.decodes("A"), s.prompt("early", 400)));
        s.decode(30, 14 * MS, "A", "early").queued("R", 400, "priority", 1);
        s.step(54 * MS, s.with(s.decodes("A", "early"), s.prompt("R", 400))).decode(40, 14 * MS, "A", "early", "R");
        s.preempted("R", "A")
                .decode(4, 14 * MS, "A", "early")
                .preempted("early", "A")
                .decode(10, 14 * MS, "A");
        s.step(62 * MS, s.with(s.decodes("A"), s.resumed("early", 476, true))).decode(20, 14 * MS, "A", "early");
        s.step(58 * MS, s.with(s.decodes("A", "early"), s.resumed("R", 441, true)));
        s.decode(60, 14 * MS, "A", "early", "R");
        return s.then(r -> {
            r.slow("R", 41, 41, "PREEMPTION", "A").slow("early", 76, 76, "PREEMPTION", "A");
            r.never("PREEMPTED_THEN_OVERTAKEN", "PREEMPTION_LOOP", "PREEMPTION_STORM", "KV_OFFLOAD");
        });
    }

    private static EventText promptOfAnotherFlushesThePrefix() {
        EventText s = new EventText("x21");
        s.engine("EngineConfigured", "blockSizeTokens", 16);
        for (int i = 0; i < 4; i++) {
            turn(s, "t" + i, i == 0 ? 0 : 1_600, i + 1, hashes(920_000, i == 0 ? 102 : 0));
        }
        s.queued("B", 16_000);
        s.step(900 * MS, List.of(s.prompt("B", 16_000)), "kvBatchSequence", 5);
        s.evicted(5, hashes(920_000, 102));
        s.engine(
                "KvBlocksStored",
                "batchSequence",
                5,
                "eventIndex",
                1,
                "blockHashes",
                hashes(990_000, 1_000),
                "blockSizeTokens",
                16);
        s.decode(10, 20 * MS, "B").finished("B", "stop");
        turn(s, "t4", 0, 6, hashes(920_000, 102));
        turn(s, "t5", 1_600, 7, List.of());
        return s.then(r -> {
            assertThat(r.findings("PREFIX_HIT_COLLAPSE"))
                    .extracting(Finding::requestId)
                    .containsExactly("x21-t4");
            assertThat(r.finding("PREFIX_HIT_COLLAPSE").culpritRequestId()).isEqualTo("x21-B");
            r.never("PREEMPTION", "RECOMPUTE", "KV_OFFLOAD", "SEAT_LIMIT");
        });
    }

    /** Nearly every block is in use, and those left suffice; the neighbour is the one that runs short. */
    private static EventText neighbourRunsOutOfBlocks() {
        EventText s = new EventText("x22");
        EventText other = s.beside("x22/other", 0, "x22/other");
        s.engine("EngineConfigured", "maxSequencesCount", 64, "kvTotalBlocksCount", 10_000, "blockSizeTokens", 16);
        s.ofSteps.put("kvUsedBlocksCount", 9_300L);
        s.ofSteps.put("runningCount", 1);
        s.queued("a", 60)
                .step(20 * MS, List.of(s.prompt("a", 60)))
                .decode(80, 15 * MS, "a")
                .queued("late", 5_000);
        s.ofSteps.put("waitingCount", 1);
        s.decode(80, 15 * MS, "a");
        s.step(300 * MS, s.with(s.decodes("a"), s.prompt("late", 5_000))).decode(40, 15 * MS, "a", "late");
        other.queued("y", 60).queued("z", 500);
        other.step(70 * MS, List.of(other.prompt("y", 60), other.prompt("z", 500)))
                .decode(80, 15 * MS, "y", "z");
        other.preempted("z", "y").decode(20, 15 * MS, "y");
        other.step(70 * MS, other.with(other.decodes("y"), other.resumed("z", 581, true)));
        other.decode(60, 15 * MS, "y", "z");
        return s.then(r -> {
            assertThat(r.token("late", 0).cause()).isEqualTo("QUEUE_WAIT");
            r.slow("z", 81, 81, "PREEMPTION", "y");
            assertThat(r.requests())
                    .filteredOn(request -> request.engines().contains("x22"))
                    .allSatisfy(request -> assertThat(request.preemptions()).isZero());
            r.never("KV_PRESSURE", "SEAT_LIMIT", "PREEMPTION_STORM", "HOST_GAP");
        });
    }

    /** Three tokens a step; no record tells of the preemption, only the phase of the step that computes again. */
    private static EventText draftsComputedAgainWithoutARecord() {
        EventText s = new EventText("x23");
        s.queued("A", 60).queued("R", 700);
        s.step(90 * MS, List.of(s.prompt("A", 60), s.prompt("R", 700)));
        for (int i = 0; i < 80; i++) {
            s.step(about(18 * MS, i), List.of(s.row("A", "decode", 3, 3), s.row("R", "decode", 3, 3)));
        }
        for (int i = 0; i < 15; i++) {
            s.step(about(18 * MS, i), List.of(s.row("A", "decode", 3, 3)));
        }
        s.step(110 * MS, List.of(s.row("A", "decode", 3, 3), s.row("R", "resumed", 941, 3, "cachedTokens", 0)));
        for (int i = 0; i < 60; i++) {
            s.step(about(18 * MS, i), List.of(s.row("A", "decode", 3, 3), s.row("R", "decode", 3, 3)));
        }
        return s.then(r -> {
            r.slow("R", 241, 241, "PREEMPTION", null).slow("A", 286, 286, "RECOMPUTE", "R");
            assertThat(part(r.token("R", 241), Part.PREEMPTED_WAIT)).isBetween(260 * MS, 280 * MS);
            r.quiet("A", 20, 285).quiet("R", 20, 240);
            r.never("PREFILL_INTERFERENCE", "UNRESOLVED_STALL", "PREEMPTION_LOOP", "TOKEN_BUDGET_STARVATION");
        });
    }

    /** The other rank of the engine goes on decoding: that is no step that another decode ran in. */
    private static EventText starvedOnOneRankOnly() {
        EventText s = new EventText("x24");
        EventText one = s.beside("x24", 1, "x24/rank-1");
        s.engine("EngineConfigured", "tokenBudgetTokens", 2_048);
        one.engine("EngineConfigured", "tokenBudgetTokens", 2_048);
        s.queued("Z", 60).step(20 * MS, List.of(s.prompt("Z", 60))).decode(600, 10 * MS, "Z");
        one.queued("A", 60)
                .step(20 * MS, List.of(one.prompt("A", 60)))
                .decode(120, 10 * MS, "A")
                .queued("B", 20_480);
        for (int i = 0; i < 10; i++) {
            one.step(
                    about(300 * MS, i),
                    List.of(
                            i == 0
                                    ? one.firstChunk("B", 2_048)
                                    : i == 9 ? one.row("B", "prefill", 2_048, 1) : one.chunk("B", 2_048)));
        }
        one.decode(80, 10 * MS, "A", "B");
        return s.then(r -> {
            r.slow("A", 121, 121, "DECODE_STARVED_BY_PREFILL", "B").quiet("Z", 20, 600);
            assertThat(part(r.token("A", 121), Part.SKIPPED_WAIT)).isBetween(2_950 * MS, 3_050 * MS);
            r.never("TOKEN_BUDGET_STARVATION", "PREFILL_INTERFERENCE", "PREEMPTION", "KV_PRESSURE", "HOST_GAP");
        });
    }
}
