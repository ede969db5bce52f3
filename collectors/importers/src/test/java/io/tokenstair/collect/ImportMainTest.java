package io.tokenstair.collect;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ImportMainTest {
    private static final String STAT = "{\"mono_ns\":1,\"wall_ns\":1795967042762009748}";

    @TempDir
    Path folder;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int run(String... arguments) {
        return ImportMain.run(new PrintWriter(out, true), new PrintWriter(err, true), false, arguments);
    }

    private String[] capture(String... more) {
        String[] arguments = new String[4 + more.length];
        arguments[0] = "vllm-capture";
        arguments[1] = folder.resolve("run").toString();
        arguments[2] = "--log";
        arguments[3] = folder.resolve("log").toString();
        System.arraycopy(more, 0, arguments, 4, more.length);
        return arguments;
    }

    @Test
    void aSummaryLiesBesideTheLogAndATableIsPrinted() throws IOException {
        Imported.folder(folder.resolve("run"), "statlog.jsonl", STAT, "broken");
        assertThat(run(capture())).isZero();
        assertThat(Files.readString(folder.resolve("log/import-summary.json")))
                .startsWith(
                        "{\"read\":2,\"accepted\":1,\"rejected\":1,\"layers\":[{\"layer\":\"steps\",\"read\":0,\"accepted\":0,"
                                + "\"rejected\":0,\"missing\":true},")
                .contains("{\"layer\":\"statlog\",\"read\":2,\"accepted\":1,\"rejected\":1,\"missing\":false}]}");
        assertThat(out.toString().lines())
                .containsExactly(
                        "layer steps: missing (no steps.jsonl[.gz] in " + folder.resolve("run") + ")",
                        "layer client: missing (no client.jsonl[.gz] in " + folder.resolve("run") + ")",
                        "layer kv-events: missing (no kv_events.jsonl[.gz] in " + folder.resolve("run") + ")",
                        "layer spans: missing (no otlp_spans/*.pb in " + folder.resolve("run") + ")",
                        "layer metrics: missing (no metrics_*.prom[.gz] in " + folder.resolve("run") + ")",
                        "layer host-scheduling: missing (no host_sched.jsonl[.gz] in " + folder.resolve("run") + ")",
                        "layer                  read   accepted   rejected",
                        "statlog                   2          1          1");
        assertThat(err.toString()).isEmpty();
    }

    @Test
    void theSummaryLineComesWhenAskedFor() {
        Imported.folder(folder.resolve("run"), "statlog.jsonl", STAT);
        assertThat(run(capture("--summary"))).isZero();
        assertThat(out.toString()).endsWith("read 1, accepted 1, rejected 0" + System.lineSeparator());
    }

    @Test
    void strictEndsWithThreeWhereSomethingWasRefused() {
        Imported.folder(folder.resolve("run"), "statlog.jsonl", STAT, "broken");
        assertThat(run(capture("--strict"))).isEqualTo(3);
        assertThat(Files.exists(folder.resolve("log/partition-0000"))).isTrue();
    }

    @Test
    void strictEndsWithZeroWhereNothingWasRefused() {
        Imported.folder(folder.resolve("run"), "statlog.jsonl", STAT);
        assertThat(run(capture("--strict"))).isZero();
    }

    @Test
    void aFolderThatIsNoCaptureEndsWithTwoAndOneLine() throws IOException {
        Files.createDirectories(folder.resolve("run"));
        Files.writeString(folder.resolve("run/truth.json"), "{}");
        assertThat(run(capture())).isEqualTo(2);
        assertThat(err.toString().lines()).hasSize(1);
        assertThat(err.toString()).contains("no vLLM capture").contains("name the folder of one run");
        assertThat(Files.exists(folder.resolve("log"))).isFalse();
    }

    @Test
    void aFolderThatIsNotThereEndsWithTwoAndOneLine() {
        assertThat(run(capture())).isEqualTo(2);
        assertThat(err.toString()).startsWith(folder.resolve("run") + ": no such folder");
    }

    @Test
    void aLogThatHoldsEventsIsNotWrittenOver() {
        Imported.folder(folder.resolve("run"), "statlog.jsonl", STAT);
        assertThat(run(capture())).isZero();
        assertThat(run(capture())).isEqualTo(2);
        assertThat(err.toString()).contains("this log already holds events");
        assertThat(err.toString().lines()).hasSize(1);
    }

    @Test
    void aLogThatIsAFileIsRefused() throws IOException {
        Imported.folder(folder.resolve("run"), "statlog.jsonl", STAT);
        Files.writeString(folder.resolve("log"), "");
        assertThat(run(capture())).isEqualTo(2);
        assertThat(err.toString()).contains("a file, not a folder");
    }

    @Test
    void wrongUsageEndsWithTwoAndOneLine() {
        assertThat(run("vllm-capture", "somewhere")).isEqualTo(2);
        assertThat(err.toString().lines()).hasSize(1);
        assertThat(err.toString()).contains("--log");
        assertThat(run("sglang-capture")).isEqualTo(2);
        assertThat(run()).isEqualTo(2);
    }

    @Test
    void helpNamesTheFilesAndFitsTheScreen() {
        assertThat(run("vllm-capture", "--help")).isZero();
        assertThat(out.toString()).contains("steps.jsonl", "client.jsonl", "Example:", "token ids are not taken over");
        assertThat(out.toString().lines())
                .allSatisfy(line -> assertThat(line.length()).isLessThanOrEqualTo(80));
        assertThat(out.toString().lines().count()).isLessThanOrEqualTo(45);
    }

    @Test
    void theFirstPageNamesEveryFormatOnceAndFitsTheScreen() {
        assertThat(run("--help")).isZero();
        List<String> page = out.toString().lines().toList();
        assertThat(page).hasSizeLessThanOrEqualTo(24);
        assertThat(page).allSatisfy(line -> assertThat(line.length()).isLessThanOrEqualTo(80));
        out.getBuffer().setLength(0);
        assertThat(run("--formats")).isZero();
        List<String> formats =
                out.toString().lines().map(line -> line.strip().split(" ")[0]).toList();
        assertThat(formats).hasSizeGreaterThanOrEqualTo(20).contains("vllm-capture", "tokenstair");
        assertThat(out.toString().lines())
                .allSatisfy(line -> assertThat(line.length()).isLessThanOrEqualTo(100));
        List<String> words = page.stream()
                .filter(line -> line.startsWith("  ") && !line.startsWith("  -") && !line.contains("import"))
                .map(line -> line.length() > 22 ? line.substring(22) : "")
                .flatMap(line -> Stream.of(line.strip().split(", ")))
                .filter(word -> formats.contains(word))
                .toList();
        assertThat(words).containsExactlyInAnyOrderElementsOf(formats);
    }

    @Test
    void helpOfTheCommandListsTheFormat() {
        assertThat(run("--help")).isZero();
        assertThat(out.toString()).contains("vllm-capture");
    }

    @Test
    void aTraceOfAGpuIsToldInLinesAndTakesTheNameOfItsEngine() throws IOException {
        String trace = Imported.real()
                .resolve("kineto_hta/triton_example__triton_example.json.gz")
                .toString();
        assertThat(run("kineto", trace, "--log", folder.resolve("log").toString(), "--engine", "vllm-0"))
                .isZero();
        assertThat(out.toString())
                .contains("triton_example__triton_example.json.gz: 1 kernel, 0 copies and fills; 1 joined to the call");
        assertThat(run("kineto", trace, "--log", folder.resolve("other").toString(), "--engine", "x".repeat(300)))
                .isEqualTo(2);
        assertThat(err.toString().lines()).hasSize(1);
        assertThat(err.toString()).contains("--engine", "give it a shorter name");
    }

    @Test
    void helpOfTheGpuFormatsSaysWhatTheyCannotTell() {
        for (String format : new String[] {"kineto", "nsys-sqlite"}) {
            assertThat(run(format, "--help")).isZero();
        }
        assertThat(out.toString()).contains("Can tell:", "Cannot tell: requests and tokens", "it is never 0");
        assertThat(out.toString().lines())
                .allSatisfy(line -> assertThat(line.length()).isLessThanOrEqualTo(90));
    }

    @Test
    void severalCapturesGoIntoOneLog() {
        Imported.folder(folder.resolve("run"), "statlog.jsonl", STAT);
        Imported.folder(folder.resolve("other"), "statlog.jsonl", STAT);
        assertThat(run(
                        "vllm-capture",
                        folder.resolve("run").toString(),
                        folder.resolve("other").toString(),
                        "--to",
                        folder.resolve("log").toString(),
                        "--summary"))
                .isZero();
        assertThat(out.toString()).endsWith("read 2, accepted 2, rejected 0" + System.lineSeparator());
    }
}
