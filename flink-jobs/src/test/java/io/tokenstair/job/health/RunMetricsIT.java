package io.tokenstair.job.health;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.job.JobMain;
import io.tokenstair.job.capture.Captures;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The page of a job that runs until it is stopped, in a process of its own, as {@code tokenstair run} starts it. */
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RunMetricsIT {
    private static final Pattern PORT = Pattern.compile("port (\\d+), /metrics");
    private static final Pattern SAMPLE =
            Pattern.compile("[a-zA-Z_]\\w*(\\{(\\w+=\"([^\"\\\\]|\\\\.)*\",?)*})? (NaN|[+-]Inf|-?[0-9.E+-]+)");

    @TempDir
    Path folder;

    @Test
    void everyFlinkMetricOfTheDashboardIsServed() throws Exception {
        Path log = Captures.log("kv_pressure_preemption", folder.resolve("log"));
        Path said = folder.resolve("said");
        Process job = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx1g",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        JobMain.class.getName(),
                        "run",
                        "--from",
                        log.toString(),
                        "--archive",
                        folder.resolve("archive").toString(),
                        "--metrics-listen",
                        "0")
                .redirectErrorStream(true)
                .redirectOutput(said.toFile())
                .start();
        try {
            String page = "";
            // Until the first checkpoint, which is the last to have its figures.
            while (!hasSample(page, "flink_jobmanager_job_lastCheckpointSize")
                    || !hasSample(page, "flink_taskmanager_job_task_operator_enginesOpen")) {
                assertThat(job.waitFor(200, TimeUnit.MILLISECONDS))
                        .as(() -> "ended: " + text(said))
                        .isFalse();
                Matcher port = PORT.matcher(text(said));
                page = port.find() ? scrape(port.group(1)) : "";
            }
            Set<String> served = new TreeSet<>();
            page.lines().filter(line -> !line.startsWith("#")).forEach(line -> {
                assertThat(line).matches(SAMPLE);
                served.add(line.split("[{ ]", 2)[0]);
            });
            assertThat(page).endsWith("\n# EOF\n");
            assertThat(ofTheDashboard()).hasSizeGreaterThan(9);
            assertThat(served).containsAll(ofTheDashboard());
            // The one whose figure is looked for, as the documentation names it.
            assertThat(page.lines())
                    .anyMatch(line ->
                            line.contains("operator_enginesOpen{") && line.contains("operator_name=\"analyse-steps\""));
        } finally {
            job.destroy();
            assertThat(job.waitFor(60, TimeUnit.SECONDS)).isTrue();
        }
    }

    /** Whether a figure is there and above 0: before anything happened Flink tells 0, or -1. */
    private static boolean hasSample(String page, String name) {
        return page.lines().anyMatch(line -> line.startsWith(name + "{") && line.matches(".*} [1-9].*"));
    }

    private static Set<String> ofTheDashboard() throws IOException {
        Path root = Path.of("").toAbsolutePath();
        while (!Files.exists(root.resolve("docs/grafana/tokenstair.json"))) {
            root = root.getParent();
        }
        Set<String> names = new TreeSet<>();
        Pattern.compile("flink_\\w+")
                .matcher(Files.readString(root.resolve("docs/grafana/tokenstair.json")))
                .results()
                .map(MatchResult::group)
                .forEach(names::add);
        return names;
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            return e.toString();
        }
    }

    private static String scrape(String port) throws Exception {
        HttpResponse<String> answer = HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/metrics"))
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
        assertThat(answer.headers().firstValue("content-type"))
                .hasValueSatisfying(type -> assertThat(type).startsWith("application/openmetrics-text"));
        return answer.body();
    }
}
