package io.tokenstair.job.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.archive.result.Remark;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.job.ToldInChinese;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What may be said of benchmark runs, workloads and request times, of which no token is known. */
class SampleWatchTest {
    private final SampleWatch watch = new SampleWatch();
    private final List<Remark> remarks = new ArrayList<>();
    private long sequence;

    @AfterEach
    void whatIsSaidIsToldInChineseToo() {
        assertThat(remarks).allSatisfy(ToldInChinese::remark);
    }

    private void sampled(String name, String labels, double value) {
        watch.accept(
                new EventHeader("bench", 1, sequence++, "none", null, null),
                new MetricSampled("f", name, labels, value));
    }

    private void run(int inputTokens, double medianMillis, double p99Millis, double ttftSeconds) {
        String labels = "input_tokens=\"" + inputTokens + "\",model=\"m\",run=\"r" + inputTokens + '"';
        sampled("bench:completed", labels, 40);
        sampled("bench:median_tpot_seconds", labels, medianMillis / 1e3);
        sampled("bench:p99_tpot_seconds", labels, p99Millis / 1e3);
        sampled("bench:median_ttft_seconds", labels, ttftSeconds);
    }

    private String narrative() {
        watch.finish("runs of m", remarks::add);
        assertThat(remarks).hasSize(1);
        assertThat(remarks.get(0).topic()).isEqualTo("tpot-by-context");
        assertThat(remarks.get(0).confidence()).isEqualTo("consistent-with");
        assertThat(remarks.get(0).evidence()).isNotEmpty();
        return remarks.get(0).narrative();
    }

    @Test
    void aRiseIsACostOfContext() {
        int[] lengths = {1_024, 2_048, 4_096, 8_192, 16_384};
        for (int i = 0; i < lengths.length; i++) {
            run(lengths[lengths.length - 1 - i], 20 + lengths[lengths.length - 1 - i] / 400.0, 90, 1);
        }
        assertThat(narrative())
                .isEqualTo("Median TPOT rises with the input length, from 22.6 ms at 1024 tokens to 61.0 ms at 16384:"
                        + " consistent with a cost of context; aggregates do not say by which work.");
    }

    @Test
    void aLevelAfterARiseWithGrowingWaitsIsALimitOfAdmission() {
        double[] medians = {40, 80, 160, 205, 204, 201, 206};
        for (int i = 0; i < medians.length; i++) {
            run(1_000 * (i + 1), medians[i], 250, i < 3 ? 1 : 5.0 * i);
        }
        assertThat(narrative())
                .contains("to 205.0 ms at 4000 and stays there to 7000 (201.0 to 206.0 ms)")
                .contains("rises from 15.0 s to 30.0 s: consistent with a limit of admission");
    }

    @Test
    void aLevelWithoutGrowingWaitsIsNoLimitOfAdmission() {
        double[] medians = {40, 80, 160, 205, 204, 201, 206};
        for (int i = 0; i < medians.length; i++) {
            run(1_000 * (i + 1), medians[i], 250, 1);
        }
        assertThat(narrative()).contains("consistent with a cost of context").doesNotContain("admission");
    }

    @Test
    void waitsThatRequestSpansTellAreThoseOfRequests() {
        for (int i = 1; i <= 100; i++) {
            String labels = "engine=\"vllm\",request_id=\"cmpl-" + i + "-0\"";
            sampled("gen_ai.latency.time_in_queue", labels, i / 100.0);
            sampled("gen_ai.latency.time_in_model_prefill", labels, 0.2);
            sampled("gen_ai.server.time_per_output_token", labels, 0.02);
        }
        watch.finish("vllm", remarks::add);
        assertThat(remarks).extracting(Remark::topic).containsExactly("request-times");
        assertThat(remarks.get(0).narrative())
                .contains("100")
                .contains("1000.0 ms")
                .contains("20.0 ms");
    }

    @Test
    void aTailThatRisesAloneIsInterference() {
        double[] medians = {28, 25, 22, 16, 20, 22, 19, 20};
        for (int i = 0; i < medians.length; i++) {
            run(1_000 * (i + 1), medians[i], 39 + 24 * i, 1);
        }
        assertThat(narrative())
                .contains("does not rise with the input length (28.0 ms at 1000 tokens, 20.0 ms at 8000)")
                .contains("its p99 does, from 39.0 ms to 207.0 ms: consistent with prompts of other requests");
    }

    @Test
    void whatStaysIsSaidToStay() {
        for (int i = 1; i <= 6; i++) {
            run(1_000 * i, 20 + i % 2, 30 + i % 3, 1);
        }
        assertThat(narrative())
                .isEqualTo("Median TPOT does not rise with the input length: 21.0 ms at 1000 tokens, 20.0 ms at 6000.");
    }

    @Test
    void ofFewLengthsNothingIsSaid() {
        run(1_000, 20, 30, 1);
        run(2_000, 40, 60, 1);
        run(2_000, 41, 60, 1);
        run(3_000, 60, 90, 1);
        watch.finish("runs", remarks::add);
        assertThat(remarks).isEmpty();
    }

    @Test
    void runsWithoutASuccessAreNoData() {
        for (int i = 0; i < 6; i++) {
            String labels = "input_tokens=\"" + (i + 1) * 1_000 + "\",run=\"r" + i + '"';
            sampled("bench:completed", labels, 0);
            sampled("bench:median_tpot_seconds", labels, 0);
        }
        watch.finish("runs", remarks::add);
        assertThat(remarks)
                .singleElement()
                .satisfies(
                        remark -> assertThat(remark.narrative())
                                .isEqualTo(
                                        "No data: no request succeeded in 6 runs, and the zeros written for their latencies are no measurements."));
    }

    @Test
    void stateIsBoundedWhateverTheNumberOfRuns() {
        for (int i = 0; i < 3 * RunSeries.MOST_RUNS; i++) {
            run(i + 1, 20, 30, 1);
        }
        assertThat(watch.runs.runs).hasSize(RunSeries.MOST_RUNS);
        assertThat(watch.runs.dropped).isPositive();
        sampled("bench:median_tpot_seconds", "input_tokens=\"5\",run=\"x\"", Double.NaN);
        sampled("bench:median_tpot_seconds", "input_tokens=\"99999999999999999999\",run=\"x\"", 1);
    }

    @Test
    void aWorkloadIsSaidToBeOne() {
        sampled("workload:requests", "trace=\"t\"", 200);
        sampled("workload:input_tokens", "trace=\"t\"", 2_000_000);
        sampled("workload:output_tokens", "trace=\"t\"", 60_000);
        sampled("workload:arrival_tick_millis", "trace=\"t\"", 3_000);
        sampled("workload:prompt_blocks", "trace=\"t\"", 4_000);
        sampled("workload:prompt_blocks_seen_before", "trace=\"t\"", 1_464);
        sampled("workload:requests_half_seen_before", "trace=\"t\"", 85);
        watch.finish("t", remarks::add);

        assertThat(remarks)
                .extracting(Remark::narrative)
                .containsExactly(
                        "A workload of 200 requests: what they ask for, and no latency of any, so none is called slow; they hold 10000"
                                + " tokens and ask for 300 on average; arrivals come on ticks of about 3000 ms, so bursts within a tick are not in"
                                + " the data.",
                        "Of 4000 prompt blocks 36.6 % begin like an earlier prompt, and 42.5 % of requests share at least half of theirs:"
                                + " the most that a prefix cache without a limit could find.");
    }

    @Test
    void timesOfRequestsAreToldWithoutATokenBetween() {
        for (int i = 1; i <= 100; i++) {
            String labels = "engine=\"e\",request_id=\"r" + i + '"';
            sampled("vllm:request_queue_time_seconds", labels, i);
            sampled("vllm:request_time_per_output_token_seconds", labels, 0.03);
        }
        sampled("vllm:request_queue_time_seconds", "engine=\"e\",request_id=\"bad\"", -1);
        sampled("vllm:request_queue_time_seconds", "engine=\"e\",request_id=\"bad\"", Double.NaN);
        // A histogram over many requests is none of one.
        sampled("vllm:request_queue_time_seconds", "engine=\"e\",le=\"1.0\"", 7);
        watch.finish("e", remarks::add);

        assertThat(watch.requests.absurdSamples).isEqualTo(2);
        assertThat(remarks)
                .singleElement()
                .satisfies(remark -> assertThat(remark.narrative())
                        .startsWith("100 requests waited 50.")
                        .contains("100.0 s at most")
                        .contains("a token took 30."));
    }
}
