package io.tokenstair.job.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.MetricSampled;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntToDoubleFunction;
import org.junit.jupiter.api.Test;

/** What may be said of an engine of which only counters are known. */
class MetricWatchTest {
    private static final int SCRAPES = 184;

    private final MetricWatch watch = new MetricWatch();
    private final List<Finding> findings = new ArrayList<>();
    private long sequence;

    private MetricWatchTest scraped(String[] names, IntToDoubleFunction... values) {
        for (int scrape = 0; scrape < SCRAPES; scrape++) {
            for (int i = 0; i < names.length; i++) {
                EventHeader header =
                        new EventHeader("metrics", 1, sequence++, "wall", null, 1_790_000_000_000L + 1_000L * scrape);
                watch.accept(
                        header,
                        new MetricSampled("http://e/metrics", names[i], "", values[i].applyAsDouble(scrape)),
                        "e",
                        findings::add);
            }
        }
        watch.finish("e", findings::add);
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
    }

    @Test
    void whatRunsAtALimitIsNotShortOfSpace() {
        scraped(VLLM, i -> i < 4 ? 64 * i : 256, i -> 120, i -> 0.42);
        scraped(VLLM, i -> 64, i -> 120, i -> 0.99);

        assertThat(findings).isEmpty();
    }

    @Test
    void aUsageThatIsAlwaysZeroIsNoData() {
        scraped(VLLM, i -> 40 + i % 7, i -> 30, i -> 0);

        assertThat(findings).isEmpty();
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
