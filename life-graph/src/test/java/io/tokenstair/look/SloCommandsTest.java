package io.tokenstair.look;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SloCommandsTest {
    private static final Pattern NANOS = Pattern.compile("\"nanos\":(-?\\d+)");

    @TempDir
    static Path archive;

    @BeforeAll
    static void writeArchive() {
        SampleArchive.write(archive);
    }

    @Test
    void everyGapBeyondItsLimitIsALineWithCausePartsAndChain() {
        List<String> breaches = breaches("gap=300ms");

        assertThat(breaches).hasSize(2);
        assertThat(breaches.get(0))
                .contains(
                        "\"rule\":\"slo-gap\"",
                        "\"cause\":\"PREEMPTION\"",
                        "\"severity\":\"critical\"",
                        "\"requestId\":\"chat-2\"",
                        "\"firstTokenIndex\":96,\"lastTokenIndex\":96",
                        "\"culpritRequestId\":\"chat-1\"",
                        "\"level\":\"established\"",
                        "\"evidence\":[\"vllm-0/1/9117\",\"vllm-0/1/8117\",\"vllm-0/1/8190\",",
                        "over the limit of 300.0 ms. [vllm-0/1/9117] chat-1 took the last free KV blocks",
                        "\"slo\":{\"measure\":\"gap\",\"limitNanos\":300000000,\"measuredNanos\":",
                        "\"basis\":\"produced\"}");
        assertThat(breaches.get(1)).contains("\"cause\":\"HOST_PAUSE\"", "\"severity\":\"warning\"");
        assertThat(breaches).allSatisfy(SloCommandsTest::partsSumToWhatWasMeasured);
    }

    @Test
    void aGapIsWhatArrivedWhereThatIsLonger() {
        List<String> breaches = breaches("gap=100ms").stream()
                .filter(line -> line.contains("\"requestId\":\"late-3\""))
                .toList();

        assertThat(breaches).isNotEmpty().allSatisfy(line -> {
            assertThat(line).contains("\"basis\":\"delivered\"").contains(" arrived ");
            partsSumToWhatWasMeasured(line);
        });
    }

    @Test
    void aFirstTokenIsMeasuredFromTheSending() {
        List<String> breaches = breaches("ttft=30ms");

        assertThat(breaches).hasSize(9).allSatisfy(line -> {
            assertThat(line).contains("\"rule\":\"slo-ttft\"", "\"measuredNanos\":31000000", "\"firstTokenIndex\":0,");
            partsSumToWhatWasMeasured(line);
        });
        assertThat(breaches)
                .filteredOn(line -> line.contains("chat-1"))
                .singleElement()
                .asString()
                .doesNotContain("\"cause\"");
    }

    @Test
    void anUnknownTimeIsNoBreach() {
        assertThat(breaches("ttft=1us,gap=1us"))
                .noneMatch(line -> line.contains("refused-1") || line.contains("warm-up-1"))
                .noneMatch(line -> line.contains("proxy-7") && line.contains("\"firstTokenIndex\":11,"));
    }

    @Test
    void breachesStandAmongTheFindingsInTheirOrder() {
        List<String> lines = run("findings", "--slo", "ttft=30ms,gap=100ms", "--format", "json")
                .lines();
        List<Long> from = new ArrayList<>();
        for (String line : lines) {
            Matcher stamp = Pattern.compile("\"fromEpochNanos\":(\\d+)").matcher(line);
            from.add(stamp.find() ? Long.parseLong(stamp.group(1)) : Long.MAX_VALUE);
        }

        assertThat(from).isSorted();
        assertThat(lines).filteredOn(line -> !line.contains("\"slo\":{")).hasSize(4);
        assertThat(run("findings", "--slo", "ttft=30ms,gap=100ms", "--format", "json")
                        .lines())
                .isEqualTo(lines);
    }

    @Test
    void everyLineIsJson() throws IOException {
        for (String line :
                run("findings", "--slo", "gap=100ms", "--format", "json").lines()) {
            try (JsonParser parser = new JsonFactory().createParser(line)) {
                JsonToken last = null;
                for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
                    last = token;
                }
                assertThat(last).isEqualTo(JsonToken.END_OBJECT);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "gap=300ms,--request chat-1,HOST_PAUSE",
        "gap=300ms,--request cmpl-chat-2-0,PREEMPTION",
        "gap=300ms,--severity critical,PREEMPTION",
        "gap=300ms,--since 2026-11-29T10:00:09Z,"
    })
    void filtersHoldForBreachesToo(String limits, String filter, String causes) {
        String[] arguments = ("findings --format json --slo " + limits + " " + filter).split(" ");
        Pattern cause = Pattern.compile("\"cause\":\"(\\w+)\"");

        assertThat(run(arguments).lines().stream()
                        .filter(line -> line.contains("\"slo\":{"))
                        .flatMap(line -> cause.matcher(line).results().map(found -> found.group(1))))
                .isEqualTo(causes == null ? List.of() : List.of(causes));
    }

    @ParameterizedTest
    @CsvSource({
        "proxy-7,gap=10s,warning,0",
        "proxy-7,gap=1ms,warning,1",
        "proxy-7,gap=1ms,critical,1",
        "proxy-7,gap=20ms,critical,0",
        "refused-1,ttft=1us,info,0"
    })
    void failOnLooksAtBreaches(String request, String limits, String severity, int exitCode) {
        assertThat(run("findings", "--request", request, "--slo", limits, "--fail-on", severity)
                        .exitCode())
                .isEqualTo(exitCode);
    }

    @ParameterizedTest
    @ValueSource(strings = {"findings", "explain"})
    void aLimitThatCannotBeReadIsRefusedInOneLine(String command) {
        CommandRun run = run(command, "--slo", "ttft=2s,gap=300");

        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.out()).isEmpty();
        assertThat(run.err().lines())
                .singleElement()
                .isEqualTo("Cannot read --slo: ttft=2s,gap=300: no unit at character 16. Use ttft=2s,gap=300ms: one of"
                        + " them or both, each a number above 0 with s, ms or us, a day at most");
    }

    @Test
    void asTextTheLimitsAreCountedAndBreachesSayWhatTheyTook() {
        String text = run("findings", "--slo", "ttft=30ms,gap=300ms").out();

        assertThat(text)
                .contains("limits      ttft 30.0 ms: 9 of 10 beyond, gap 300 ms: 2 of ")
                .contains("limit gap 300 ms, took ")
                .contains("no cause")
                .contains("Token 96 was made ");
    }

    @Test
    void inChineseTheNarrativeIsChinese() {
        assertThat(run("findings", "--slo", "gap=300ms", "--lang", "zh").out())
                .contains("超过了 300.0 ms 的上限。 [vllm-0/1/9117]")
                .contains("上限 gap 300 ms，实际 ", "规则 slo-gap 修订 1，发现 ")
                .doesNotContain("limit gap", "culprit ", " revision ");
    }

    @Test
    void whyATokenIsAsSureAsItIsIsChineseToo() {
        String text = run("explain", "--request", "chat-2", "--token", "96", "--slo", "gap=300ms", "--lang", "zh")
                .out();
        String json = run("findings", "--slo", "ttft=30ms", "--lang", "zh", "--format", "json")
                .out();

        assertThat(text).contains("原因", "间隔 ", "   预期 ", "上限 gap 300 ms，实际 ").doesNotContain("   expected ");
        assertThat(text)
                .contains("请求 chat-2", "   结束：", "96 号 token，共 ")
                .doesNotContain("request ", "ended: ", "made ");
        assertThat(run("explain", "--request", "chat-2", "--lang", "zh").out()).startsWith("请求 chat-2");
        // Beyond ASCII, JSON is escaped.
        assertThat(json).contains("\"confidence\":{\"level\":\"unresolved\",\"why\":\"\\u6309\\u539F\\u56E0");
    }

    @Test
    void tablesAndHeadersAreChineseTooAndKeepTheirColumns() {
        String one = run("explain", "--request", "chat-2", "--slo", "gap=300ms", "--lang", "zh")
                .out();
        String all = run("explain", "--lang", "zh").out();
        String found = run("findings", "--slo", "gap=300ms", "--lang", "zh").out();

        assertThat(one)
                .contains("第一个 token 之后的间隔", "token 号", "间隔 ms", "预期", "可信程度", "超过上限：")
                .doesNotContain("expected", "confidence", "slow token", "beyond", "largest", "state  ");
        assertThat(all).contains("首 token ms", "最大的原因").doesNotContain("worst", "tokens ", "request ");
        assertThat(found).contains("归档 ", "发现 ").doesNotContain("archive ", "findings ", " delivered late");
    }

    @Test
    void explainMarksTheTokenAndTheRequest() {
        List<String> all = run("explain", "--slo", "ttft=30ms,gap=300ms", "--format", "json")
                .lines();
        String one = run("explain", "--request", "chat-2", "--token", "96", "--slo", "gap=300ms")
                .out();
        String unmarked = run(
                        "explain", "--request", "chat-2", "--token", "95", "--slo", "gap=300ms", "--format", "json")
                .out();

        assertThat(String.join("\n", all).split("\"sloBreaches\":", -1)).hasSize(1 + 9 + 2);
        assertThat(all)
                .filteredOn(line -> line.contains("\"requestId\":\"chat-2\""))
                .singleElement()
                .asString()
                .contains("\"sloBreaches\":[{\"measure\":\"ttft\",\"limitNanos\":30000000,\"measuredNanos\":31000000,"
                        + "\"basis\":\"delivered\"}],\"tokens\":[");
        assertThat(one).contains("limit gap 300 ms, took ");
        assertThat(unmarked).doesNotContain("sloBreaches");
        assertThat(run("explain", "--request", "chat-2", "--slo", "ttft=30ms,gap=300ms")
                        .out())
                .contains("beyond the limits: TTFT 31.0 ms, token 96 ");
    }

    private static List<String> breaches(String limits) {
        return run("findings", "--slo", limits, "--format", "json").lines().stream()
                .filter(line -> line.contains("\"slo\":{"))
                .toList();
    }

    private static void partsSumToWhatWasMeasured(String line) {
        Matcher measured = Pattern.compile("\"measuredNanos\":(\\d+)").matcher(line);
        assertThat(measured.find()).isTrue();
        assertThat(NANOS.matcher(line)
                        .results()
                        .mapToLong(nanos -> Long.parseLong(nanos.group(1)))
                        .sum())
                .isEqualTo(Long.parseLong(measured.group(1)));
    }

    private static CommandRun run(String... arguments) {
        return CommandRun.of(Stream.concat(
                        Stream.of(arguments[0], "--archive", archive.toString()),
                        Stream.of(arguments).skip(1))
                .toArray(String[]::new));
    }
}
