package io.tokenstair.collect.prometheus;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.collect.Imported;
import io.tokenstair.event.MetricSampled;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PrometheusImportTest {
    @TempDir
    Path folder;

    private Imported imported(String... lines) throws Exception {
        return Imported.file(listener -> new PrometheusImport(Imported.LIMITS, listener), folder, "scrape.prom", lines);
    }

    @Test
    void everyLineIsASampleAndAStampDatesWhatFollows() throws Exception {
        Imported imported = imported(
                "# TYPE sglang:token_usage gauge",
                "sglang:token_usage{model_name=\"m\"} 0.28",
                "# scraped mono_ns=5 wall_ns=1790000000000000000",
                "sglang:num_queue_reqs 2826",
                "broken line");

        assertThat(imported.all(MetricSampled.class))
                .extracting(MetricSampled::name)
                .containsExactly("sglang:num_queue_reqs", "sglang:token_usage");
        assertThat(Imported.wallMillis(imported.events().get(0))).isEqualTo(1_790_000_000_000L);
        assertThat(imported.summary().line()).isEqualTo("read 3, accepted 2, rejected 1");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            nullValues = "undated",
            value = {
                "up 1 1790000000123 | 1790000000123",
                "up{job=\"a b } 1790000000999\"} 1 1790000000123 | 1790000000123",
                // OpenMetrics stamps in seconds.
                "up 1 1790000000.123 | 1790000000123",
                "b{le=\"1\"} 5 1790000000.5 # {trace_id=\"x\"} 0.7 1790000001.5 | 1790000000500",
                "b{le=\"1\"} 5 # {trace_id=\"x\"} 0.7 1790000001.5 | undated",
                "up 1 | undated",
                "lora_requests_info 1790000000123 | undated",
                "up 1 12 | undated",
                "up 1 9999999999999 | undated"
            })
    void aSampleOfAFileWithoutScrapeStampsIsDatedByItsOwn(String line, Long millis) throws Exception {
        Imported imported = imported(line);

        assertThat(imported.summary().line()).isEqualTo("read 1, accepted 1, rejected 0");
        assertThat(imported.events().get(0).header().coarseEpochMillis()).isEqualTo(millis);
    }
}
