package io.tokenstair.collector;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tokenstair.collector.reach.AnsweringServer;
import io.tokenstair.collector.reach.UsualPorts;
import io.tokenstair.gpu.Check;
import io.tokenstair.gpu.GpuState;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class DoctorMainTest {
    private static final Map<String, String> VLLM = Map.of(
            "/v1/models",
            "{\"data\":[{\"id\":\"tiny\",\"owned_by\":\"vllm\"}]}",
            "/version",
            "{\"version\":\"0.32.0\"}");

    @TempDir
    Path folder;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int run(List<UsualPorts.Usual> ports, String... arguments) {
        out.getBuffer().setLength(0);
        return DoctorMain.commandLine(Collectors.all(), ports, () -> new GpuState.NoDriver("none"))
                .setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true))
                .execute(arguments);
    }

    private static int free() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private Path config(int engine) throws IOException {
        return Files.writeString(
                folder.resolve("collect.yaml"),
                "to: " + folder.resolve("log") + "\ncollectors:\n  - type: gateway\n    upstream: http://127.0.0.1:"
                        + engine + "\n    listen: 127.0.0.1:" + free()
                        + "\n  - type: vllm\n    kv-events: tcp://127.0.0.1:"
                        + free() + "\n  - type: otlp\n    grpc: 127.0.0.1:" + free() + "\n    http: 127.0.0.1:" + free()
                        + "\n");
    }

    @Test
    void everyCollectorOfAFileTellsWhatItCannotReach() throws Exception {
        try (AnsweringServer engine = AnsweringServer.of(VLLM, "uvicorn")) {
            Path file = config(engine.port());
            long before = System.nanoTime();
            assertThat(run(List.of(), "--config", file.toString(), "--format", "json"))
                    .isZero();
            assertThat((System.nanoTime() - before) / 1_000_000).isLessThan(5_500);
            JsonNode report = new ObjectMapper().readTree(out.toString());
            assertThat(report.get("ready").asBoolean()).isFalse();
            JsonNode reach = report.get("reach");
            assertThat(reach.findValuesAsText("collector"))
                    .containsExactly("", "gateway-0", "gateway-0", "vllm-0", "otlp-0", "otlp-0");
            assertThat(reach.findValuesAsText("subject"))
                    .containsExactly("to", "upstream", "listen", "kv-events", "grpc", "http");
            assertThat(reach.findValuesAsText("status")).containsExactly("ok", "ok", "ok", "failed", "ok", "ok");
            assertThat(reach.get(1).get("found").asText()).isEqualTo("vLLM 0.32.0, model tiny");
            assertThat(reach.get(3).get("advice").asText()).startsWith("start vLLM with --kv-events-config");

            assertThat(run(List.of(), "--config", file.toString(), "--fail-on", "failed"))
                    .isEqualTo(1);
            assertThat(out.toString())
                    .startsWith("the log\n  ok       to         ")
                    .contains("\ngateway-0\n  ok       upstream   http://127.0.0.1:" + engine.port()
                            + "\n                      vLLM 0.32.0, model tiny\n")
                    .endsWith("\nFailed: 1, warnings: 0, of 6. What to do stands behind ->\n");
            assertThat(out.toString().lines()).allMatch(line -> line.length() <= 80);
            assertThat(engine.asked()).noneMatch(request -> request.startsWith("POST"));
        }
    }

    /** Every port that the process of a file listens at is looked at, the one of its own figures too. */
    @Test
    void thePortOfItsOwnFiguresIsLookedAtToo() throws Exception {
        Path file = config(free());
        String text = Files.readString(file);
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Files.writeString(file, "metrics-listen: " + taken.getLocalPort() + "\n" + text);
            assertThat(run(List.of(), "--config", file.toString(), "--format", "json"))
                    .isZero();
            JsonNode row =
                    new ObjectMapper().readTree(out.toString()).get("reach").get(1);
            assertThat(row.get("collector").asText()).isEmpty();
            assertThat(row.get("subject").asText()).isEqualTo("metrics-listen");
            assertThat(row.get("address").asText()).isEqualTo("127.0.0.1:" + taken.getLocalPort());
            assertThat(row.get("status").asText()).isEqualTo("failed");
        }
        Files.writeString(file, "metrics-listen: localhost:" + free() + "\n" + text);
        assertThat(run(List.of(), "--config", file.toString())).isZero();
        assertThat(out.toString()).contains("\nits own figures\n  ok       metrics-listen  localhost:");
    }

    @Test
    void whatCannotBeReadIsOneLineAndExitTwo() throws Exception {
        assertThat(run(List.of(), "--config", folder.resolve("none.yaml").toString()))
                .isEqualTo(2);
        Path wrong = Files.writeString(folder.resolve("wrong.yaml"), "to: log\ncollectors:\n  - type: gatway\n");
        assertThat(run(List.of(), "--config", wrong.toString())).isEqualTo(2);
        assertThat(run(List.of(), "--colour")).isEqualTo(2);
        assertThat(err.toString().lines()).hasSize(3);
        assertThat(err.toString())
                .contains("there is no such file")
                .contains("wrong.yaml:3:11: unknown collector: gatway: did you mean gateway?")
                .contains("tokenstair doctor: Unknown option: '--colour'");
        assertThat(out.toString()).isEmpty();
    }

    @Test
    void whatRunsHereIsToldWithTheCommandForIt() throws Exception {
        try (AnsweringServer engine = AnsweringServer.of(VLLM, "uvicorn")) {
            List<UsualPorts.Usual> ports = List.of(
                    new UsualPorts.Usual(engine.port(), UsualPorts.Kind.HTTP, "vLLM"),
                    new UsualPorts.Usual(free(), UsualPorts.Kind.KAFKA, "Kafka"),
                    new UsualPorts.Usual(free(), UsualPorts.Kind.OTLP, "OTLP over gRPC"));
            assertThat(run(ports, "--format", "json")).isZero();
            JsonNode report = new ObjectMapper().readTree(out.toString());
            assertThat(report.get("checks").findValuesAsText("name"))
                    .containsExactly(
                            "Java", "Maven", "Python 3", "Cores", "Memory", "Disk", "GPU", "Browser", "Docker");
            assertThat(report.get("gpu").get("state").asText()).isEqualTo("no-driver");
            assertThat(report.get("running").get(0).get("engine").asText()).isEqualTo("vllm");
            assertThat(report.get("running").get(0).get("version").asText()).isEqualTo("0.32.0");
            assertThat(report.get("running").get(1).get("taken").asBoolean()).isFalse();
            String http = "http://127.0.0.1:" + engine.port();
            List<String> commands = List.of(
                    "tokenstair collect gateway --to ./log --upstream " + http,
                    "tokenstair collect vllm --to ./log --metrics " + http + "/metrics",
                    "tokenstair collect otlp --to ./log");
            assertThat(report.get("commands")).extracting(JsonNode::asText).containsExactlyElementsOf(commands);

            assertThat(run(ports)).isZero();
            assertThat(out.toString().lines()).allMatch(line -> line.length() <= 80);
            commands.forEach(command -> assertThat(out.toString()).contains("  " + command + "\n"));
            // What is told is what works: each is a command with options that exist.
            for (String command : commands) {
                Path file = Files.writeString(
                        folder.resolve("told.yaml"),
                        "to: x\ncollectors:\n  - type: " + command.split(" ", -1)[2]
                                + command.replaceFirst(".*--to \\./log", "")
                                        .replaceAll(" --(\\S+) (\\S+)", "\n    $1: $2")
                                + "\n");
                assertThat(ConfigFile.read(file, Collectors.all(), null).collectors())
                        .hasSize(1);
            }
        }
    }

    @Test
    void theTextIsAlignedAndSaysWhatToDo() {
        List<Check> checks = List.of(
                Check.ok("Java", "17"),
                Check.missing("Python 3", "not found", "install it"),
                Check.optional("GPU", "none", null));

        assertThat(DoctorText.machine(checks, false, 80)).isEqualTo("""
                        ok       Java      17
                        missing  Python 3  not found
                                           -> install it
                        -        GPU       none

                        Missing: 1, see above.
                        """);
    }

    @Test
    void withoutColourThereIsNoEscape() {
        List<Check> checks = List.of(Check.ok("Java", "17"));
        assertThat(DoctorText.machine(checks, false, 80)).doesNotContain("\u001b");
        assertThat(DoctorText.machine(checks, true, 80)).contains("\u001b[32m");
    }

    @Test
    void longWordsAreBrokenWhereTheTerminalEnds() {
        assertThat(DoctorText.wrapped("a " + "b".repeat(70) + " c", 50, 80))
                .isEqualTo("a\n" + " ".repeat(50) + "b".repeat(30) + "\n" + " ".repeat(50) + "b".repeat(30) + "\n"
                        + " ".repeat(50) + "b".repeat(10) + " c");
    }
}
