package io.tokenstair.collector;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.RequestCompleted;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.log.FolderLogReader;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

@Timeout(60)
class CollectMainTest {
    @TempDir
    Path folder;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private final CollectMain collect = new CollectMain(Collectors.all());

    private int run(String... arguments) {
        CommandLine line = collect.commandLine();
        line.setOut(new PrintWriter(out));
        line.setErr(new PrintWriter(err));
        line.getSubcommands().values().forEach(sub -> {
            sub.setOut(new PrintWriter(out));
            sub.setErr(new PrintWriter(err));
        });
        return line.execute(arguments);
    }

    private int check(String yaml) throws Exception {
        Path file = Files.writeString(folder.resolve("collect.yaml"), yaml);
        return run("--config", file.toString(), "--check");
    }

    @Test
    void helpFitsAScreenAndEndsWithAnExample() {
        assertThat(run("--help")).isZero();
        assertThat(out.toString().lines().count()).isLessThan(24);
        assertThat(out.toString()).contains("gateway").contains("Example:");
        assertThat(run("gateway", "--help")).isZero();
        assertThat(out.toString()).contains("--upstream=URL").contains("(default: 127.0.0.1:8100)");
    }

    @Test
    void thePrintedFileIsAFileThatWorksAndNamesEverySetting() throws Exception {
        assertThat(run("--print-config")).isZero();
        String printed = out.toString();
        for (Collector collector : Collectors.all()) {
            for (Option option : collector.options()) {
                assertThat(printed).contains(option.name() + ": ").contains(option.description());
            }
        }
        assertThat(check(printed)).isZero();
        // With every comment that holds a setting taken away it says the same.
        assertThat(check(printed.replaceAll(
                        "(?m)^(\\s*)#((?!tls-|upstream-ca|token:|kv-|metrics:)[a-z0-9-]+: )", "$1$2")))
                .as(err.toString())
                .isZero();
    }

    /** An example that is uncommented as it stands does not point at another thing than its setting means. */
    @Test
    void theExamplesOfThePrintedFileAreOfTheirSettings() throws Exception {
        assertThat(run("--print-config")).isZero();
        List<String> lines = out.toString().lines().toList();
        Pattern setting = Pattern.compile(" *#?(?:- )?([a-z0-9-]+): (.*)");
        Map<String, String> ofCollector = new HashMap<>();
        for (int i = 1; i < lines.size(); i++) {
            Matcher read = setting.matcher(lines.get(i));
            if (!read.matches()) {
                continue;
            }
            if (read.group(1).equals("type")) {
                ofCollector.clear();
                continue;
            }
            String example = read.group(2);
            if (example.contains("://")) {
                assertThat(ofCollector.putIfAbsent(example, read.group(1)))
                        .as("the same example as that of %s", lines.get(i))
                        .isNull();
            }
            Matcher address = Pattern.compile("https?://[0-9.:]+/[a-z/]+").matcher(lines.get(i - 1));
            if (address.find()) {
                assertThat(example).isEqualTo(address.group());
            }
            assertThat(lines.get(i - 1)).as("a sentence").matches(" *# [A-Z].*\\.");
        }
    }

    @Test
    void allMistakesOfAFileAreToldAtOnce() throws Exception {
        String told = mistakes("""
                to: log
                queue-events: 3
                kollectors: 1
                collectors:
                  - type: gateway
                    upstrem: http://a:1
                    listen: [a, b]
                    max-body: 3 GB
                  - type: gatway
                  - type: trtllm
                    metrics: http://a:1/metrics
                    metrics-every: 10 minuts
                  - type: gateway
                  - 5
                """);
        assertThat(told.lines().map(line -> line.replaceAll("^.*collect.yaml:", "")))
                .satisfiesExactly(
                        line -> assertThat(line).startsWith("3:1: the file: unknown setting: kollectors: did you mean"),
                        line -> assertThat(line).startsWith("2:15: queue-events: not a whole number from 8"),
                        line -> assertThat(line)
                                .startsWith("6:5: gateway: unknown setting: upstrem: did you mean upstream?"),
                        line -> assertThat(line).startsWith("7:13: listen: one value is wanted here"),
                        line -> assertThat(line).startsWith("8:15: max-body: not a size"),
                        line -> assertThat(line).startsWith("9:11: unknown collector: gatway: did you mean gateway?"),
                        line -> assertThat(line).startsWith("12:20: metrics-every: not a time"),
                        line -> assertThat(line).startsWith("13:5: upstream is missing"),
                        line -> assertThat(line).startsWith("14:5: a collector is to be names with values. See: "));
        assertThat(mistakes("to: log\ncollectors:\n" + "  - 5\n".repeat(30)).lines())
                .hasSize(21)
                .last()
                .asString()
                .contains("and 10 more mistakes");
    }

    /** What would only be found when it starts, where no one looks any more, is found by looking at the file. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "vllm | engine: a | Cannot collect nothing: give --probe",
                "sglang | engine: a | Cannot collect nothing: give --fpm",
                "dynamo | begin: end | Cannot collect nothing: give --fpm",
                "trtllm | engine: a | Cannot collect nothing: give --iterations",
                "llamacpp | engine: a | Cannot collect nothing: give --metrics",
                "vllm | {kv-events: 'tcp://a:1,tcp://b:1', kv-replay: 'tcp://a:2'} | which replay endpoint",
                "sglang | {kv-events: 'tcp://a:1,tcp://b:1', kv-replay: 'tcp://a:2'} | which replay endpoint",
                "vllm | metrics: 'http://a:1/metrics,http://b:1/metrics' | metrics: one address is wanted, not 2",
                "vllm | metrics: localhost | metrics: not an address, such as http://",
                "vllm | probe: 127.0.0.1:5559 | probe: not an address, such as tcp://",
                "vllm | kv-events: 'tcp://a:99999' | kv-events: not an address, such as tcp://",
                "gateway | {upstream: 'http://localhost:8100', listen: '127.0.0.1:8100'} | Cannot stand before itself",
                "gateway | {upstream: 'http://a:1', tls-cert: a.pem} | Cannot speak TLS with only one of",
                "otlp | tls-cert: a.pem | Cannot speak TLS with only one of",
            })
    void optionsThatCannotBeUsedTogetherAreToldOfTheFile(String type, String options, String told) throws Exception {
        String inside = options.startsWith("{") ? options.substring(1, options.length() - 1) : options;
        assertThat(mistake("to: log\ncollectors:\n  - {type: " + type + ", " + inside + "}\n"))
                .contains("collect.yaml:3:")
                .contains(told);
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp://*:5559", "tcp://0.0.0.0:5559", "tcp://[::1]:5559", "ipc:///tmp/probe"})
    void aProbeMaySendToAnyAddressThatCanBeListenedAt(String address) throws Exception {
        assertThat(check("to: log\ncollectors:\n  - {type: vllm, probe: '" + address + "'}\n"))
                .as(err.toString())
                .isZero();
    }

    @Test
    void twoThatWouldListenAtOnePlaceAreToldBeforeAnythingStarts() throws Exception {
        String gateway = "  - {type: gateway, upstream: 'http://a:1'%s}\n";
        String config = "to: log\n%scollectors:\n%s";
        // The second keeps the default of the first.
        assertThat(mistake(String.format(config, "", String.format(gateway, "") + String.format(gateway, ""))))
                .contains(":4:5: listen: 127.0.0.1:8100 is where listen of gateway-0 listens");
        for (String second : new String[] {"localhost:8100", "'0.0.0.0:8100'", "'[::]:8100'"}) {
            assertThat(mistake(String.format(
                            config, "", String.format(gateway, "") + String.format(gateway, ", listen: " + second))))
                    .contains("is where listen of gateway-0 listens");
        }
        assertThat(mistake(String.format(config, "metrics-listen: 8100\n", String.format(gateway, ""))))
                .contains(":4:5: listen: 127.0.0.1:8100 is where metrics-listen listens");
        assertThat(mistake(String.format(config, "", "  - {type: vllm, probe: 'tcp://*:4317'}\n  - {type: otlp}\n")))
                .contains(":4:5: grpc: 127.0.0.1:4317 is where probe of vllm-0 listens");
    }

    @Test
    void aReplayEndpointBelongsToAPublisher() throws Exception {
        for (String type : new String[] {"vllm", "sglang", "dynamo"}) {
            String config = "to: log\ncollectors:\n  - {type: " + type + ", metrics: 'http://a:1/metrics', %s}\n";
            assertThat(mistake(String.format(config, "kv-replay: 'tcp://a:2'")))
                    .contains("give --kv-events beside --kv-replay");
            assertThat(mistake(String.format(config, "kv-events: 'tcp://a:1', kv-replay: 'tcp://a:2,tcp://a:3'")))
                    .contains("as many of --kv-replay as of --kv-events, 1, not 2");
        }
    }

    @Test
    void anyFreePortAndOtherHostsAreInNobodysWay() throws Exception {
        String gateways = "to: log\ncollectors:\n  - {type: gateway, upstream: 'http://a:1', listen: '%s'}\n"
                + "  - {type: gateway, upstream: 'http://a:1', listen: '%s'}\n";
        assertThat(check(String.format(gateways, "127.0.0.1:0", "127.0.0.1:0"))).isZero();
        assertThat(check(String.format(gateways, "127.0.0.1:8100", "127.0.0.2:8100")))
                .isZero();
        assertThat(check(String.format(gateways, "127.0.0.1:8100", "127.0.0.1:8101")))
                .isZero();
    }

    @Test
    void mistakesAreToldWithTheirPlaceAndTheNearestName() throws Exception {
        assertThat(mistake("to: log\ncollectors:\n  - type: gateway\n    upstrem: http://a:1\n"))
                .contains("collect.yaml:4:5: gateway: unknown setting: upstrem: did you mean upstream?");
        assertThat(mistake("to: log\ncollectors:\n  - type: gatway\n"))
                .contains("collect.yaml:3:11: unknown collector: gatway: did you mean gateway?");
        assertThat(mistake("to: log\ncollectors:\n  - type: gateway\n")).contains(":3:5: upstream is missing");
        assertThat(mistake("to: log\ncollectors:\n  - type: gateway\n    upstream: http://a:1\n    max-body: 3 GB\n"))
                .contains(":5:15: max-body: not a size");
        assertThat(mistake("to: log\ncollectors:\n  - {type: gateway, upstream: 'ftp://a'}\n"))
                .contains(":3:31: upstream: not an address");
        assertThat(mistake("collectors:\n  - {type: gateway, upstream: 'http://a'}\n"))
                .contains(":1:1: to is missing");
        assertThat(mistake("to: a\nto: b\n")).contains(":2:1: set twice: to");
        assertThat(mistake("to: a\ncollectors: {}\n")).contains(":2:13: collectors is to be a list");
        assertThat(mistake("to: a\ncollectors: [\n")).contains("cannot read the YAML");
        assertThat(mistake("")).contains("empty");
        assertThat(mistake("[".repeat(100_000))).contains("collect.yaml");
        assertThat(
                        mistake(
                                "to: a\ncollectors:\n  - {type: gateway, name: x, upstream: 'http://a'}\n  - {type: gateway, name: x, upstream: 'http://a'}\n"))
                .contains(":4:27: name: two collectors are called x");
        assertThat(run("--config", folder.resolve("none.yaml").toString())).isEqualTo(2);
        assertThat(err.toString()).contains("there is no such file");
    }

    private String mistake(String yaml) throws Exception {
        String told = mistakes(yaml);
        assertThat(told.lines()).hasSize(1);
        return told;
    }

    private String mistakes(String yaml) throws Exception {
        err.getBuffer().setLength(0);
        assertThat(check(yaml)).isEqualTo(2);
        return err.toString();
    }

    @Test
    void wrongUseIsOneLine() {
        assertThat(run()).isEqualTo(2);
        assertThat(run("gateway", "--to", "log", "--upstream", "nonsense")).isEqualTo(2);
        assertThat(run("gatewy")).isEqualTo(2);
        assertThat(run("gateway", "--to", "kafka://nohost", "--upstream", "http://a:1"))
                .isEqualTo(2);
        assertThat(err.toString()).contains("did you mean gateway?").contains("kafka://host:port/topic");
        assertThat(err.toString().lines()).hasSize(4);
    }

    @Test
    void itCollectsUntilItIsEnded() throws Exception {
        HttpServer engine = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        engine.createContext("/", exchange -> {
            byte[] answer =
                    "{\"id\":\"cmpl-1\",\"choices\":[{\"index\":0,\"text\":\"a\"}],\"usage\":{\"completion_tokens\":1}}"
                            .getBytes(StandardCharsets.UTF_8);
            exchange.getRequestBody().readAllBytes();
            exchange.getResponseHeaders().add("content-type", "application/json");
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        engine.start();
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        Path log = folder.resolve("log");
        CompletableFuture<Integer> code = CompletableFuture.supplyAsync(() -> run(
                "gateway",
                "--to",
                log.toString(),
                "--name",
                "front",
                "--listen",
                "127.0.0.1:" + port,
                "--metrics-listen",
                "0",
                "--upstream",
                "http://127.0.0.1:" + engine.getAddress().getPort()));
        while (!err.toString().contains("Collecting to")) {
            assertThat(code).isNotDone();
            Thread.onSpinWait();
        }
        HttpResponse<String> answer = HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/v1/completions"))
                                .POST(HttpRequest.BodyPublishers.ofString("{}"))
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
        assertThat(answer.statusCode()).isEqualTo(200);
        String page = err.toString().replaceAll("(?s).*port (\\d+), /metrics.*", "$1");
        String scraped = scrape(page, "metrics");
        while (!scraped.contains(
                        "tokenstair_gateway_ended_requests_total{collector=\"front\",outcome=\"complete\"} 1\n")
                || !scraped.contains("tokenstair_gateway_tokens_total{collector=\"front\"} 1\n")) {
            Thread.onSpinWait();
            scraped = scrape(page, "metrics");
        }
        assertThat(scraped)
                .contains("# TYPE tokenstair_gateway_ended_requests counter\n")
                .contains("tokenstair_gateway_open_requests{collector=\"front\"} 0\n")
                .contains("tokenstair_outlet_lost_events_total 0\n")
                .endsWith("# EOF\n");
        assertThat(scrape(page, "")).contains("the page is /metrics");
        List<String> families = scraped.lines()
                .filter(line -> line.startsWith("# TYPE "))
                .map(line -> line.split(" ", -1)[2])
                .toList();
        assertThat(families).doesNotHaveDuplicates();
        assertThat(ofTheDashboard())
                .hasSizeGreaterThan(5)
                .allSatisfy(name -> assertThat(families).contains(name.replaceFirst("_total$", "")));
        // Every sample is of the family that was begun last.
        String family = "";
        for (String line : scraped.lines().toList()) {
            family = line.startsWith("# TYPE ") ? line.split(" ", -1)[2] : family;
            assertThat(line.startsWith("#") || line.startsWith(family)).as(line).isTrue();
        }
        collect.end();
        assertThat(code.get(40, TimeUnit.SECONDS)).isZero();
        engine.stop(0);
        assertThat(err.toString()).contains("lost 0");
        List<LoggedEvent> events = new ArrayList<>();
        for (Path partition : FolderLogReader.partitions(log)) {
            try (FolderLogReader reader = new FolderLogReader(partition, 0)) {
                for (byte[] bytes = reader.next(); bytes != null; bytes = reader.next()) {
                    events.add(EventCodec.decode(bytes));
                }
            }
        }
        assertThat(events)
                .allSatisfy(event -> assertThat(event.header().collectorId()).isEqualTo("front"));
        assertThat(events)
                .anyMatch(event -> event.event() instanceof RequestCompleted completed
                        && completed.outputTokens() != null
                        && completed.outputTokens() == 1);
    }

    @Test
    void anAddressOfItsOwnFiguresThatIsNoneIsTold() throws Exception {
        assertThat(run("gateway", "--to", "a", "--upstream", "http://a:1", "--metrics-listen", "x"))
                .isEqualTo(2);
        assertThat(err.toString()).contains("metrics-listen").contains("not an address");
        assertThat(check("to: log\nmetrics-listen: here\ncollectors:\n  - type: gateway\n    upstream: http://a:1\n"))
                .isEqualTo(2);
        assertThat(err.toString()).contains("collect.yaml:2:");
        assertThat(check("to: log\nmetrics-listen: 9465\ncollectors:\n  - type: gateway\n    upstream: http://a:1\n"))
                .isZero();
    }

    private static Set<String> ofTheDashboard() throws Exception {
        Path root = Path.of("").toAbsolutePath();
        while (!Files.exists(root.resolve("docs/grafana/tokenstair.json"))) {
            root = root.getParent();
        }
        Matcher name = Pattern.compile("tokenstair_gateway_\\w+")
                .matcher(Files.readString(root.resolve("docs/grafana/tokenstair.json")));
        Set<String> names = new TreeSet<>();
        while (name.find()) {
            names.add(name.group());
        }
        return names;
    }

    private static String scrape(String port, String page) throws Exception {
        return HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/" + page))
                                .build(),
                        HttpResponse.BodyHandlers.ofString())
                .body();
    }
}
