package io.tokenstair.job;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The launcher, in a tree that only looks built, with a java and a mvn that write down how they were called. Folders have a space in
 * their names.
 */
class LauncherTest {

    private static final List<String> MODULES = List.of(
            "token-events",
            "collectors/engines",
            "collectors/server",
            "collectors/otlp",
            "collectors/importers",
            "collectors/vllm",
            "collectors/gpu",
            "collectors/gateway",
            "collectors/collect",
            "collectors/engine-simulator",
            "cep-rules",
            "parquet-archive",
            "flink-jobs",
            "life-graph");
    private static final Instant BUILT = Instant.parse("2026-01-02T00:00:00Z");

    private final Path folder;
    private final Path tree;
    private final Path calls;
    private final Map<String, String> environment = new HashMap<>();

    LauncherTest(@TempDir Path folder) {
        this.folder = folder;
        this.tree = folder.resolve("a tree");
        this.calls = folder.resolve("calls");
    }

    @BeforeEach
    void makeTree() throws IOException {
        Files.createDirectories(tree);
        Files.copy(Path.of("..", "tokenstair"), tree.resolve("tokenstair"), StandardCopyOption.COPY_ATTRIBUTES);
        Files.createDirectories(tree.resolve("captures/kv_pressure_preemption"));
        old(Files.writeString(tree.resolve("pom.xml"), ""));
        for (String module : MODULES) {
            Path target = Files.createDirectories(tree.resolve(module).resolve("target"));
            old(Files.writeString(tree.resolve(module).resolve("pom.xml"), ""));
            Files.setLastModifiedTime(Files.writeString(target.resolve("classpath.txt"), ""), FileTime.from(BUILT));
        }
        Path javaHome = Files.createDirectories(folder.resolve("a jdk"));
        Files.writeString(javaHome.resolve("release"), "JAVA_VERSION=\"17.0.1\"\n");
        Files.createDirectories(javaHome.resolve("bin"));
        // Leaves a file in its temporary folder and ends as the file exit-<main> says.
        program(javaHome.resolve("bin/java"), """
                while [ "$1" != -cp ]; do
                  case "$1" in -Djava.io.tmpdir=*) touch "${1#-Djava.io.tmpdir=}/left"; echo "tmp ${1#*=}" >>"$CALLS";; esac
                  case "$1" in -Dof.the.user=* | -XX:TieredStopAtLevel=*) echo "option $1" >>"$CALLS";; esac
                  shift
                done
                shift 2
                main="$1"
                echo "nice $(nice)" >>"$CALLS"
                echo "$@" >>"$CALLS"
                exit "$(cat "$(dirname "$CALLS")/exit-$main" 2>/dev/null || echo 0)"
                """);
        program(javaHome.resolve("bin/javac"), "exit 0\n");
        program(Files.createDirectories(folder.resolve("programs")).resolve("mvn"), """
                echo "mvn $*" >>"$CALLS"
                echo '[INFO] Building Tokenstair token-events 1                 [2/8]'
                [ -n "${MVN_FAILS:-}" ] && echo '[ERROR] the reason' && exit 1
                exit 0
                """);
        environment.put("JAVA_HOME", javaHome.toString());
        environment.put("JAVA_OPTS", "");
        environment.put("CALLS", calls.toString());
        environment.put(
                "TMPDIR", Files.createDirectories(folder.resolve("a tmp")).toString());
        environment.put("PATH", folder.resolve("programs") + ":" + System.getenv("PATH"));
    }

    @ParameterizedTest
    @CsvSource({
        "run --from l,      io.tokenstair.job.JobMain run --from l",
        "replay --help,     io.tokenstair.job.JobMain replay --help",
        "findings -x,       io.tokenstair.look.LookMain findings -x",
        "rules list,        io.tokenstair.look.rule.RulesMain list",
        "explain,           io.tokenstair.look.LookMain explain",
        "view --port 1,     io.tokenstair.look.LookMain view --port 1",
        "export otlp,       io.tokenstair.look.otlp.ExportMain otlp",
        "collect --check,   io.tokenstair.collector.CollectMain --check",
        "doctor,            io.tokenstair.collector.DoctorMain"
    })
    void aCommandGoesToItsMain(String command, String call) throws Exception {
        assertThat(tokenstair(command.split(" ")).exitCode()).isZero();

        assertThat(mains()).containsExactly(call);
    }

    @Test
    void theExitCodeOfTheMainIsTheLaunchers() throws Exception {
        endsWith("io.tokenstair.look.LookMain", 1);

        assertThat(tokenstair("findings", "--fail-on", "warning").exitCode()).isEqualTo(1);
    }

    @Test
    void importReadsIntoALogAndArchivesIt() throws Exception {
        assertThat(tokenstair("import", "vllm-capture", "a dir", "--archive", "an archive")
                        .exitCode())
                .isZero();

        assertThat(mains())
                .containsExactly(
                        "io.tokenstair.collect.ImportMain vllm-capture a dir --log SCRATCH/log",
                        "io.tokenstair.job.JobMain archive --from SCRATCH/log --archive an archive"
                                + " --summary SCRATCH/log/import-summary.json");
    }

    @Test
    void whatAStrictImportAcceptedIsArchivedAllTheSame() throws Exception {
        endsWith("io.tokenstair.collect.ImportMain", 3);

        assertThat(tokenstair("import", "vllm-capture", "d", "--strict", "--archive=a")
                        .exitCode())
                .isEqualTo(3);
        assertThat(mains()).hasSize(2);
    }

    @Test
    void anImportThatCannotReadArchivesNothing() throws Exception {
        endsWith("io.tokenstair.collect.ImportMain", 2);

        assertThat(tokenstair("import", "vllm-capture", "d", "--archive", "a").exitCode())
                .isEqualTo(2);
        assertThat(mains()).hasSize(1);
    }

    @Test
    void importWithoutAnArchiveIsAWrongUse() throws Exception {
        assertRefused(tokenstair("import", "vllm-capture", "d"), "import: --archive DIR is missing");
    }

    @Test
    void anUnknownFormatIsToldWhichThereAre() throws Exception {
        assertRefused(
                tokenstair("import", "vllm", "d", "--archive", "a"), "unknown format: vllm. Formats: vllm-capture");
    }

    @Test
    void demoOnceReadsAnalysesAndPrints() throws Exception {
        assertThat(tokenstair("demo", "--once", "--out", folder.resolve("out").toString())
                        .exitCode())
                .isZero();

        assertThat(mains())
                .extracting(call -> call.split(" ")[0] + " " + call.split(" ")[1])
                .containsExactly(
                        "io.tokenstair.collect.ImportMain vllm-capture",
                        "io.tokenstair.job.JobMain run",
                        "io.tokenstair.look.LookMain findings");
    }

    @Test
    void demoDoesNotReplaceWhatItDidNotMake() throws Exception {
        Path kept =
                Files.writeString(Files.createDirectories(folder.resolve("out")).resolve("kept"), "");

        assertRefused(tokenstair("demo", "--out", folder.resolve("out").toString()), "holds something else");
        assertThat(kept).exists();
    }

    @Test
    void theTemporaryFolderIsGoneAfterwards() throws Exception {
        tokenstair("findings");

        assertThat(Files.readAllLines(calls)).anyMatch(line -> line.startsWith("tmp " + environment.get("TMPDIR")));
        assertThat(folder.resolve("a tmp")).isEmptyDirectory();
    }

    @Test
    void javaOptsAreHonoured() throws Exception {
        environment.put("JAVA_OPTS", "-Dof.the.user=1 -Xmx9g");

        tokenstair("findings");

        assertThat(Files.readAllLines(calls)).contains("option -Dof.the.user=1");
    }

    @Test
    void aCollectorBesideAnEngineGivesWayToIt() throws Exception {
        tokenstair("collect", "gateway");
        tokenstair("collect", "vllm");

        List<Integer> nice = Files.readAllLines(calls).stream()
                .filter(line -> line.startsWith("nice "))
                .map(line -> Integer.valueOf(line.substring(5)))
                .toList();
        assertThat(nice).hasSize(2);
        assertThat(nice.get(1)).isEqualTo(Math.min(19, nice.get(0) + 10));
    }

    @Test
    void aGatewayHasTheSecondCompilerForCiphersOnly() throws Exception {
        tokenstair("collect", "gateway", "--upstream", "https://engine:8000");
        tokenstair("collect", "gateway", "--tls-cert", "cert.pem");
        assertThat(Files.readAllLines(calls)).doesNotContain("option -XX:TieredStopAtLevel=1");

        tokenstair("collect", "gateway", "--upstream", "http://engine:8000");

        assertThat(Files.readAllLines(calls)).containsOnlyOnce("option -XX:TieredStopAtLevel=1");
    }

    @Test
    void whatIsOlderThanItsSourcesIsBuiltFirst() throws Exception {
        Files.writeString(
                Files.createDirectories(tree.resolve("cep-rules/src/main")).resolve("Rule.java"), "");

        Run run = tokenstair("findings");

        assertThat(run.output())
                .startsWith("Building (cep-rules: sources changed)")
                .contains("[2/8] token-events");
        assertThat(mains().get(0)).startsWith("mvn -B -f ").endsWith("-DskipTests package");
    }

    @Test
    void aModuleThatIsNotBuiltIsBuiltFirst() throws Exception {
        Files.delete(tree.resolve("life-graph/target/classpath.txt"));

        assertThat(tokenstair("doctor").output()).startsWith("Building (life-graph: not built yet)");
    }

    @Test
    void aLibraryThatIsGoneIsFetchedFirst() throws Exception {
        Path list = Files.writeString(tree.resolve("flink-jobs/target/classpath.txt"), "/no/such.jar");
        Files.setLastModifiedTime(list, FileTime.from(BUILT));

        assertThat(tokenstair("doctor").output()).startsWith("Building (flink-jobs: a library is gone)");
    }

    @Test
    void aBuildThatFailsIsOneLine() throws Exception {
        Files.delete(tree.resolve("life-graph/target/classpath.txt"));
        environment.put("MVN_FAILS", "yes");

        Run run = tokenstair("findings");

        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.output().lines().reduce((first, last) -> last).orElse(""))
                .startsWith("tokenstair: Cannot build: the reason (all of it: ");
        assertThat(mains()).noneMatch(call -> call.contains("LookMain"));
    }

    @Test
    void toldNotToBuildItSaysWhatIsMissing() throws Exception {
        Files.delete(tree.resolve("life-graph/target/classpath.txt"));
        environment.put("TOKENSTAIR_NO_BUILD", "1");

        assertRefused(tokenstair("findings"), "Module life-graph is not built yet");
    }

    @Test
    void anOldJavaIsToldWhatToInstall() throws Exception {
        Files.writeString(folder.resolve("a jdk/release"), "JAVA_VERSION=\"11.0.2\"\n");

        assertRefused(tokenstair("doctor"), "Java 11.0.2 is too old: install a JDK 17 or newer");
    }

    @Test
    void anUnknownCommandIsAWrongUse() throws Exception {
        assertRefused(tokenstair("exlpain"), "Unknown command: exlpain");
    }

    @Test
    void theHelpFitsAScreenAndEndsWithAnExample() throws Exception {
        Run run = tokenstair("--help");

        assertThat(run.exitCode()).isZero();
        assertThat(run.output().lines()).hasSizeLessThanOrEqualTo(24).allMatch(line -> line.length() <= 110);
        assertThat(run.output()).endsWith("Example:\n  tokenstair demo --once\n");
    }

    private void assertRefused(Run run, String message) throws IOException {
        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.output()).hasLineCount(1).startsWith("tokenstair: ").contains(message);
        assertThat(calls).doesNotExist();
    }

    /** Calls of java and mvn, without options; the launcher's temporary folder is SCRATCH. */
    private List<String> mains() throws IOException {
        List<String> mains = new ArrayList<>();
        for (String line : Files.readAllLines(calls)) {
            mains.add(line.replaceAll(Pattern.quote(folder.resolve("a tmp") + "/tokenstair.") + "\\w+", "SCRATCH"));
        }
        mains.removeIf(line -> line.startsWith("tmp ") || line.startsWith("option ") || line.startsWith("nice "));
        return mains;
    }

    private void endsWith(String main, int exitCode) throws IOException {
        Files.writeString(folder.resolve("exit-" + main), Integer.toString(exitCode));
    }

    private Run tokenstair(String... arguments) throws Exception {
        List<String> command =
                new ArrayList<>(List.of(tree.resolve("tokenstair").toString()));
        command.addAll(List.of(arguments));
        Path output = folder.resolve("output");
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile());
        builder.environment().remove("TOKENSTAIR_NO_BUILD");
        builder.environment().putAll(environment);
        Process process = builder.start();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        return new Run(process.exitValue(), Files.readString(output));
    }

    private static void program(Path file, String body) throws IOException {
        Files.writeString(file, "#!/bin/sh\n" + body);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private static void old(Path file) throws IOException {
        Files.setLastModifiedTime(file, FileTime.from(BUILT.minusSeconds(60)));
    }

    private record Run(int exitCode, String output) {}
}
