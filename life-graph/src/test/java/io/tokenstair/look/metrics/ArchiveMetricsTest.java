package io.tokenstair.look.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.tokenstair.archive.ResultTables;
import io.tokenstair.archive.result.Quantile;
import io.tokenstair.clock.EpochClock;
import io.tokenstair.collect.otlp.receive.LogOutletWay;
import io.tokenstair.collect.otlp.receive.OtlpReceiver;
import io.tokenstair.collect.otlp.receive.ReceiverSettings;
import io.tokenstair.log.LogOutlet;
import io.tokenstair.look.SampleArchive;
import io.tokenstair.look.archive.ResultArchive;
import io.tokenstair.look.archive.ResultTableFixture;
import io.tokenstair.look.page.PageServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ArchiveMetricsTest {
    private static final Pattern SAMPLE = Pattern.compile("([a-z_]+)(\\{[^}]*})? (\\S+)");
    private static final Pattern NAME = Pattern.compile("tokenstair_[a-z_]+");

    @TempDir
    static Path folder;

    private Path archive;

    @BeforeAll
    void write() {
        archive = folder.resolve("archive");
        SampleArchive.write(archive);
        List<Quantile> quantiles = new ArrayList<>();
        for (String metric : List.of("ttft", "engine-ttft", "gap", "delivered-gap", "step", "queue-wait")) {
            for (int window = 0; window < 3; window++) {
                quantiles.add(new Quantile(
                        window * 60_000L,
                        (window + 1) * 60_000L,
                        metric,
                        "engine",
                        "m",
                        SampleArchive.ENGINE,
                        null,
                        10 * (window + 1),
                        20_000_000L + window,
                        30_000_000L,
                        50_000_000L,
                        null,
                        60_000_000L,
                        1_000_000L,
                        0,
                        List.of(),
                        List.of(),
                        0));
            }
        }
        ResultTableFixture.write(
                archive, ResultTables.QUANTILE, SampleArchive.START_EPOCH_NANOS / 1_000_000L, quantiles);
    }

    private static String get(String url) throws IOException, InterruptedException {
        HttpResponse<String> answer = HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(URI.create(url)).build(), HttpResponse.BodyHandlers.ofString());
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.headers().firstValue("content-type").orElse(""))
                .startsWith("application/openmetrics-text; version=1.0.0");
        return answer.body();
    }

    private String page() throws IOException, InterruptedException {
        try (ResultArchive opened = ResultArchive.open(archive);
                PageServer server = PageServer.start(opened, 0)) {
            return get(server.url() + "metrics");
        }
    }

    /** The families of a text; fails where it is not OpenMetrics. */
    private static Set<String> families(String text) {
        Set<String> families = new TreeSet<>();
        Set<String> series = new HashSet<>();
        String family = "";
        assertThat(text).endsWith("# EOF\n");
        for (String line : text.lines().toList()) {
            if (line.equals("# EOF")) {
                break;
            }
            if (line.startsWith("# HELP ")) {
                family = line.split(" ")[2];
                assertThat(families.add(family))
                        .as("one family in one piece: " + line)
                        .isTrue();
                assertThat(line).endsWith(".");
            } else if (line.startsWith("# TYPE ")) {
                assertThat(line).matches("# TYPE " + family + " (gauge|counter|summary)");
            } else if (line.startsWith("# UNIT ")) {
                assertThat(line).matches("# UNIT " + family + " (seconds|bytes)");
                assertThat(family).endsWith("_" + line.substring(line.lastIndexOf(' ') + 1));
            } else {
                Matcher sample = SAMPLE.matcher(line);
                assertThat(sample.matches()).as(line).isTrue();
                assertThat(sample.group(1)).isIn(family, family + "_total");
                assertThat(series.add(line.substring(0, line.lastIndexOf(' '))))
                        .as(line)
                        .isTrue();
                Double.parseDouble(sample.group(3));
            }
        }
        return families;
    }

    @Test
    void anArchiveTellsItsFindingsQuantilesAndHealth() throws IOException, InterruptedException {
        String text = page();
        assertThat(families(text))
                .contains(
                        "tokenstair_findings",
                        "tokenstair_ttft_seconds",
                        "tokenstair_gap_seconds",
                        "tokenstair_step_seconds",
                        "tokenstair_queue_wait_seconds",
                        "tokenstair_archive_rows",
                        "tokenstair_archive_late_rows",
                        "tokenstair_newest_event_timestamp_seconds",
                        "tokenstair_layer_reported",
                        "tokenstair_rejected_inputs",
                        "tokenstair_lost_records");
        assertThat(text)
                .contains("tokenstair_layer_reported{engine=\"engine-0\",layer=\"spans\"} 0\n")
                .contains("tokenstair_lost_records{engine=\"engine-0\",layer=\"kv-events\"} 0\n")
                .contains("tokenstair_gap_seconds{scope=\"engine\",model=\"m\",engine=\"engine-0\",quantile=\"0.5\"}"
                        + " 0.020000002\n")
                .contains("tokenstair_gap_window_samples{scope=\"engine\",model=\"m\",engine=\"engine-0\"} 30\n")
                .contains("severity=\"critical\"");
        // Ids of requests are no labels, hostile ones least of all.
        assertThat(text).doesNotContain("script").doesNotContain(SampleArchive.PREEMPTED);
    }

    @Test
    void aReadingStandsForAWhile() {
        ArchiveMetrics metrics = new ArchiveMetrics(archive);
        assertThat(metrics.text()).isSameAs(metrics.text());
    }

    @Test
    void everyMetricOfTheDashboardIsExported() throws IOException, InterruptedException {
        Set<String> exported = new TreeSet<>(families(page()));
        try (LogOutlet outlet = LogOutlet.open(folder.resolve("log").toString());
                OtlpReceiver receiver = OtlpReceiver.start(
                        ReceiverSettings.onLoopback(0, 0),
                        new LogOutletWay(outlet, "otlp"),
                        EpochClock.system(),
                        () -> LogOutletWay.metrics(outlet))) {
            for (String family : families(get("http://127.0.0.1:" + receiver.httpPort() + "/metrics"))) {
                exported.add(family);
                exported.add(family + "_total");
            }
        }
        Set<String> used = new TreeSet<>();
        Path dashboard = Path.of("").toAbsolutePath();
        while (!Files.exists(dashboard.resolve("docs/grafana/tokenstair.json"))) {
            dashboard = dashboard.getParent();
        }
        try (JsonParser json = new JsonFactory()
                .createParser(dashboard.resolve("docs/grafana/tokenstair.json").toFile())) {
            for (JsonToken token = json.nextToken(); token != null; token = json.nextToken()) {
                if (token == JsonToken.VALUE_STRING
                        && ("expr".equals(json.currentName()) || "query".equals(json.currentName()))) {
                    Matcher name = NAME.matcher(json.getText());
                    while (name.find()) {
                        used.add(name.group());
                    }
                }
            }
        }
        // Those of gateways are looked for in what `tokenstair collect` serves: CollectMainTest.
        used.removeIf(name -> name.startsWith("tokenstair_gateway_"));
        assertThat(used).hasSizeGreaterThan(10);
        assertThat(exported).containsAll(used);
    }
}
