package io.tokenstair.job.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.Remark;
import io.tokenstair.cause.Cause;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.job.ToldInChinese;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntToDoubleFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What may be said of an engine of which only counters are known. */
class MetricWatchTest {
    private static final int SCRAPES = 184;

    private final MetricWatch watch = new MetricWatch();
    private final List<Finding> findings = new ArrayList<>();
    private final List<Remark> remarks = new ArrayList<>();
    private final List<Cause> begun = new ArrayList<>();
    private long sequence;

    /** What is told at the end had been seen before it, once in the stretch. */
    @AfterEach
    void whatIsToldHadBegun() {
        assertThat(begun)
                .doesNotHaveDuplicates()
                .containsAll(findings.stream()
                        .filter(finding -> !begun.isEmpty())
                        .map(finding -> Cause.valueOf(finding.cause()))
                        .toList());
    }

    @AfterEach
    void whatIsSaidIsToldInChineseToo() {
        assertThat(findings).allSatisfy(ToldInChinese::finding);
        assertThat(remarks).allSatisfy(ToldInChinese::remark);
    }

    private MetricWatchTest scraped(String[] names, IntToDoubleFunction... values) {
        for (int scrape = 0; scrape < SCRAPES; scrape++) {
            for (int i = 0; i < names.length; i++) {
                EventHeader header =
                        new EventHeader("metrics", 1, sequence++, "wall", null, 1_790_000_000_000L + 1_000L * scrape);
                watch.accept(
                        header,
                        new MetricSampled("http://e/metrics", names[i], "", values[i].applyAsDouble(scrape)),
                        "e",
                        findings::add,
                        remarks::add);
                begun.addAll(watch.begun());
            }
        }
        watch.finish("e", findings::add, remarks::add);
        return this;
    }

    private static final String[] VLLM = {
        "vllm:num_requests_running", "vllm:num_requests_waiting", "vllm:kv_cache_usage_perc"
    };

    @Test
    void aFullPoolWithRequestsWaitingAndSeatsFreeIsConsistentWithPressure() {
        scraped(VLLM, i -> 30 + i % 5, i -> 100, i -> i % 6 == 0 ? 0.9 : 0.985);

        assertThat(findings).singleElement().satisfies(finding -> {
            assertThat(finding.cause()).isEqualTo("KV_PRESSURE");
            assertThat(finding.confidence()).isEqualTo("consistent-with");
            assertThat(finding.severity()).isEqualTo("info");
            assertThat(finding.evidence()).isNotEmpty();
            assertThat(finding.fromEpochNanos()).isEqualTo(1_790_000_000_000L * 1_000_000);
        });
        assertThat(begun).containsExactly(Cause.KV_PRESSURE);
    }

    @Test
    void whatRunsAtALimitIsNotShortOfSpace() {
        scraped(VLLM, i -> i < 4 ? 64 * i : 256, i -> 120, i -> 0.42);
        scraped(VLLM, i -> 64, i -> 120, i -> 0.99);

        assertThat(findings).isEmpty();
        assertThat(topics()).containsExactly("seat-limit", "seat-limit");
        assertThat(remarks.get(0).confidence()).isEqualTo("consistent-with");
        assertThat(remarks.get(0).missingLayers()).containsExactly("steps");
        assertThat(remarks.get(0).narrative())
                .isEqualTo(
                        "In 180 of 184 scrapes with requests waiting, 120 at most, the engine ran 256 sequences and never"
                                + " more: as at a limit of sequences, which was not reported. The KV pool was 42 % full at most.");
    }

    private List<String> topics() {
        return remarks.stream().map(Remark::topic).toList();
    }

    @Test
    void atAKnownLimitOfSequencesTheLimitIsNamedAndHowFullThePoolWas() {
        watch.seats = 128;
        scraped(VLLM, i -> i < 20 ? 6 * i : 128 - i % 2, i -> i < 30 ? 0 : 60, i -> 0.11);
        assertThat(remarks)
                .singleElement()
                .satisfies(remark -> assertThat(remark.narrative())
                        .isEqualTo(
                                "In 154 of 154 scrapes with requests waiting, 60 at most, the engine ran as many sequences as it may,"
                                        + " 128: consistent with the limit of sequences holding requests back."
                                        + " 11 % of the KV pool was in use then: it was not short of KV space."));
        remarks.clear();
        scraped(VLLM, i -> 128, i -> 60, i -> 0.99);
        assertThat(remarks)
                .singleElement()
                .satisfies(remark -> assertThat(remark.narrative())
                        .contains("99 % of the KV pool was in use then as well: which of the two"));
        assertThat(findings).isEmpty();
    }

    @Test
    void belowTheLimitOfSequencesNothingIsSaidOfIt() {
        watch.seats = 128;
        scraped(VLLM, i -> 60 + i % 9, i -> 30, i -> 0.9);
        assertThat(topics()).isEmpty();
        scraped(VLLM, i -> 128, i -> 0, i -> 0.4);
        assertThat(topics()).isEmpty();
        scraped(VLLM, i -> 60 + i % 9, i -> i % 3 == 0 ? 1 : 0, i -> 0.3);
        assertThat(topics()).isEmpty();
    }

    @Test
    void aQueueBesideAFreePoolIsNotShortOfSpace() {
        EventHeader header = new EventHeader("metrics", 1, 0, "wall", null, null);
        String[] names = {"sglang:token_usage", "sglang:num_running_reqs", "sglang:num_queue_reqs"};
        double[] values = {0.28, 162, 2_826};
        for (int i = 0; i < names.length; i++) {
            watch.accept(header, new MetricSampled("s", names[i], "", values[i]), "e", findings::add, remarks::add);
        }
        watch.finish("e", findings::add, remarks::add);

        assertThat(findings).isEmpty();
        assertThat(remarks).singleElement().satisfies(remark -> {
            assertThat(remark.topic()).isEqualTo("queue-beside-free-kv");
            assertThat(remark.narrative())
                    .isEqualTo(
                            "In 1 of 1 scrape requests waited, 2826 at most, with up to 162 running and 28 % of the KV pool"
                                    + " in use: KV space is not what they waited for. How many sequences may run was not reported.");
        });
    }

    @Test
    void usageInPerCentIsTheSameAsAShare() {
        scraped(VLLM, i -> 30 + i % 5, i -> 100, i -> i % 6 == 0 ? 90 : 98.5);
        assertThat(findings)
                .singleElement()
                .satisfies(finding -> assertThat(finding.cause()).isEqualTo("KV_PRESSURE"));
        findings.clear();
        MetricWatch low = new MetricWatch();
        for (int scrape = 0; scrape < SCRAPES; scrape++) {
            // Almost empty: one per cent, and at the end two.
            double[] values = {30 + scrape % 5, 100, scrape < 180 ? 0.98 : 2};
            for (int i = 0; i < VLLM.length; i++) {
                EventHeader header = new EventHeader("m", 1, sequence++, "wall", null, null);
                low.accept(header, new MetricSampled("s", VLLM[i], "", values[i]), "e", findings::add, remarks::add);
            }
        }
        low.finish("e", findings::add, remarks::add);
        assertThat(findings).isEmpty();
    }

    @Test
    void anotherRankOfTheSameScrapeIsNoOtherScrape() {
        for (int scrape = 0; scrape < SCRAPES; scrape++) {
            for (int i = 0; i < VLLM.length; i++) {
                for (int rank = 0; rank < 2; rank++) {
                    double[] values = {30, 100, rank == 0 ? 0.99 : 0.1};
                    EventHeader header = new EventHeader("m", 1, sequence++, "wall", 1_000L + scrape, null);
                    watch.accept(
                            header,
                            new MetricSampled("s", VLLM[i], "tp_rank=\"" + rank + '"', values[i]),
                            "e",
                            findings::add,
                            remarks::add);
                }
            }
        }
        assertThat(watch.scrapes).isEqualTo(SCRAPES - 1);
        assertThat(watch.fullAndWaiting).isEqualTo(SCRAPES - 1);
    }

    @Test
    void promptsThatHoldUpDecodesShowInTheRates() {
        String[] names = {
            "vllm:num_requests_running",
            "vllm:avg_prompt_throughput_toks_per_s",
            "vllm:avg_generation_throughput_toks_per_s"
        };
        scraped(names, i -> 40 + i % 3, i -> i % 3 == 0 ? 3_000 : 0, i -> i % 3 == 0 ? 900 : 1_230 + i % 7);
        assertThat(remarks).singleElement().satisfies(remark -> {
            assertThat(remark.topic()).isEqualTo("prompts-against-decodes");
            assertThat(remark.narrative())
                    .contains(
                            "On average 900 a second were generated in the 62 scrapes with prompts, 1233 in the 122 without.");
        });
        remarks.clear();
        scraped(names, i -> 40 + i % 3, i -> i % 3 == 0 ? 3_000 : 0, i -> 1_200 + i % 7);
        // A start: few run, so few tokens come, while prompts are many.
        scraped(names, i -> Math.min(100, i), i -> i < 100 ? 3_000 : 0, i -> 20 * Math.min(100, i) + i % 5);
        assertThat(remarks).isEmpty();
    }

    @Test
    void aUsageThatIsAlwaysZeroIsNoData() {
        scraped(VLLM, i -> 40 + i % 7, i -> 30, i -> 0);

        assertThat(findings).isEmpty();
        assertThat(remarks).singleElement().satisfies(remark -> {
            assertThat(remark.topic()).isEqualTo("kv-usage-not-recorded");
            assertThat(remark.narrative())
                    .startsWith(
                            "No data on KV usage: it reads 0 in all of 184 scrapes although up to 46 sequences ran.");
        });
    }

    @Test
    void pausedRequestsAreSaidOnlyWhereTheyWereCounted() {
        String[] names = {"trtllm_num_active_requests", "trtllm_num_paused_requests"};
        scraped(names, i -> 60, i -> i % 3 == 0 ? 4 : 0);
        assertThat(findings)
                .singleElement()
                .satisfies(
                        finding -> assertThat(finding.narrative()).contains("paused requests observed in 62 of 184"));
        findings.clear();
        scraped(names, i -> 60, i -> 0);
        assertThat(findings).isEmpty();
    }

    @Test
    void preemptionsAreCountedByTheirRiseAlsoOverARestart() {
        scraped(
                new String[] {"vllm:num_requests_running", "vllm:num_preemptions_total"},
                i -> 60,
                i -> i < 100 ? 1_000 + i : i - 100);

        assertThat(findings)
                .singleElement()
                .satisfies(finding -> assertThat(finding.narrative()).contains("182 preemptions counted"));
    }

    @Test
    void aRunningCountThatSwingsIsConsistentWithAnOscillation() {
        scraped(new String[] {"sglang:num_running_reqs"}, i -> 30 + (i % 10 < 5 ? 15 : -15));

        assertThat(findings)
                .singleElement()
                .satisfies(finding -> assertThat(finding.cause()).isEqualTo("BATCH_OSCILLATION"));
    }

    @Test
    void valuesThatCannotBeAreCountedAndNotUsed() {
        scraped(VLLM, i -> Double.NaN, i -> -1, i -> Double.POSITIVE_INFINITY);

        assertThat(findings).isEmpty();
        assertThat(watch.absurdSamples).isEqualTo(3 * SCRAPES);
        assertThat(watch.scrapes).isZero();
    }

    @Test
    void anEngineIsTheOneItsLabelNamesElseItsSource() {
        assertThat(EngineMetric.engineOf(sample("vllm:num_requests_running", "engine=\"cM2\"")))
                .isEqualTo("cM2");
        assertThat(EngineMetric.engineOf(sample("vllm:num_requests_running", "engine=\"0\",model_name=\"a\\\"b\"")))
                .isEqualTo("http://e/metrics#a\"b#0");
        assertThat(EngineMetric.engineOf(sample("numActiveRequests", ""))).isEqualTo("http://e/metrics");
        assertThat(EngineMetric.engineOf(sample("vllm:prompt_tokens_total", "engine=\"0\"")))
                .isNull();
        assertThat(EngineMetric.engineOf(sample("x".repeat(10_000), ""))).isNull();
    }

    private static MetricSampled sample(String name, String labels) {
        return new MetricSampled("http://e/metrics", name, labels, 1);
    }
}
