package io.tokenstair.job;

import io.tokenstair.archive.ArchiveException;
import io.tokenstair.archive.ArchiveLayout;
import io.tokenstair.archive.RawTables;
import io.tokenstair.archive.ResultTables;
import io.tokenstair.archive.TableSchema;
import io.tokenstair.job.sink.ArchiveSinks;
import io.tokenstair.job.source.ArchiveSource;
import io.tokenstair.job.source.CollectorWatermarks;
import io.tokenstair.job.source.FolderLogSource;
import io.tokenstair.job.source.KafkaLogSource;
import io.tokenstair.job.source.RawRecord;
import io.tokenstair.job.source.RawRecordTypeInfo;
import io.tokenstair.job.step.EngineRecord;
import io.tokenstair.log.FolderLogReader;
import io.tokenstair.rule.library.RuleLibrary;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The commands that run jobs: {@code archive} (the second half of {@code import}), {@code run} and {@code replay}. */
@Command(
        name = "tokenstair",
        description = "Runs the jobs of Tokenstair on this machine.",
        subcommands = {JobMain.ArchiveCommand.class, JobMain.RunCommand.class, JobMain.ReplayCommand.class},
        synopsisSubcommandLabel = "COMMAND")
public final class JobMain implements Callable<Integer> {
    private static final int USAGE = 2;
    private static final Pattern KAFKA_ADDRESS = Pattern.compile("kafka://([^\\s/]+:\\d{1,5})/([\\w.-]{1,249})");
    private static final Duration CHECKPOINT_INTERVAL = Duration.ofSeconds(10);

    @Spec
    CommandSpec spec;

    /** Made by picocli. */
    @SuppressWarnings("NullAway.Init")
    public JobMain() {}

    /** Runs a command and ends the process with its exit code. */
    public static void main(String[] arguments) {
        System.exit(run(arguments));
    }

    static int run(String... arguments) {
        boolean debug = List.of(arguments).contains("--debug");
        CommandLine commands = new CommandLine(new JobMain());
        commands.setParameterExceptionHandler((problem, given) -> {
            problem.getCommandLine()
                    .getErr()
                    .println("tokenstair: " + problem.getMessage() + "; see tokenstair "
                            + problem.getCommandLine().getCommandName() + " --help");
            return USAGE;
        });
        commands.setExecutionExceptionHandler((problem, line, given) -> {
            if (debug) {
                problem.printStackTrace(line.getErr());
            } else {
                line.getErr().println("tokenstair: " + reason(problem));
            }
            return USAGE;
        });
        return commands.execute(arguments);
    }

    /** The innermost message that says something a person can act on. */
    private static String reason(Throwable problem) {
        String said = null;
        for (Throwable at = problem; at != null; at = at.getCause()) {
            if (at.getMessage() != null
                    && (said == null || at instanceof ArchiveException || at instanceof IOException)) {
                said = at.getMessage();
            }
            if (at.getCause() == null && at.getMessage() != null && !(problem instanceof IOException)) {
                said = at.getMessage();
            }
        }
        return (said == null
                        ? problem.getClass().getSimpleName()
                        : said.lines().findFirst().orElse(said)) + " (--debug shows more)";
    }

    @Override
    public Integer call() {
        spec.commandLine().usage(spec.commandLine().getErr());
        return USAGE;
    }

    // ---- archive

    /** {@code archive}: writes a log into the raw tables of an archive. */
    @Command(
            name = "archive",
            description = "Writes a log into the raw tables of an archive.",
            footer = {"", "Example:", "  tokenstair import vllm-capture captures/quiet --archive A"})
    static final class ArchiveCommand implements Callable<Integer> {
        @Option(names = "--from", required = true, paramLabel = "LOG", description = "folder log to read to its end")
        Path from;

        @Option(names = "--archive", required = true, paramLabel = "DIR", description = "archive to add to")
        Path archive;

        @Option(
                names = "--summary",
                paramLabel = "FILE",
                description = "what the importer counted; its figures are the last line printed")
        @Nullable
        Path summary;

        @Option(names = "--debug", description = "show stack traces")
        boolean debug;

        @Option(
                names = {"-h", "--help"},
                usageHelp = true,
                description = "show this help")
        boolean help;

        @Spec
        CommandSpec spec;

        @SuppressWarnings("NullAway.Init")
        ArchiveCommand() {}

        @Override
        public Integer call() throws Exception {
            requireLog(from);
            requireFolderOrNew(archive);
            StreamExecutionEnvironment environment = JobEnvironment.local(RuntimeExecutionMode.BATCH, 1);
            SingleOutputStreamOperator<EngineRecord> routed = source(
                            environment, FolderLogSource.bounded(from), WatermarkStrategy.noWatermarks())
                    .process(new RouteRecords(true))
                    .name("route-records")
                    .uid("route-records");
            routed.getSideOutput(RouteRecords.ARCHIVE)
                    .sinkTo(ArchiveSinks.raw(archive))
                    .name("raw-archive")
                    .uid("raw-archive");
            environment.execute("tokenstair archive");
            if (summary != null) {
                spec.commandLine().getOut().println(figures(Files.readString(summary)));
            }
            return 0;
        }

        private static String figures(String summary) {
            long[] figures = new long[3];
            String[] names = {"read", "accepted", "rejected"};
            for (int i = 0; i < names.length; i++) {
                Matcher figure =
                        Pattern.compile("\"" + names[i] + "\"\\s*:\\s*(\\d+)").matcher(summary);
                if (!figure.find()) {
                    throw new IllegalArgumentException("Cannot find '" + names[i] + "' in the importer's summary");
                }
                figures[i] = Long.parseLong(figure.group(1));
            }
            return "read " + figures[0] + ", accepted " + figures[1] + ", rejected " + figures[2];
        }
    }

    // ---- run

    /** {@code run}: the streaming job. */
    @Command(
            name = "run",
            description =
                    "Runs the streaming job on this machine: reads a log, writes raw and result tables, until stopped.",
            footer = {"", "Example:", "  tokenstair run --from kafka://localhost:9092/tokenstair --archive A"})
    static final class RunCommand implements Callable<Integer> {
        @Option(
                names = "--from",
                required = true,
                paramLabel = "LOG",
                description = "kafka://host:port/topic, or the folder of an embedded log")
        String from;

        @Option(names = "--archive", required = true, paramLabel = "DIR", description = "archive to write")
        Path archive;

        @Option(names = "--once", description = "end where the log ends now")
        boolean once;

        @Option(names = "--parallelism", paramLabel = "N", defaultValue = "1", description = "subtasks (default 1)")
        int parallelism;

        @Option(names = "--debug", description = "show stack traces")
        boolean debug;

        @Option(
                names = {"-h", "--help"},
                usageHelp = true,
                description = "show this help")
        boolean help;

        @Spec
        CommandSpec spec;

        @SuppressWarnings("NullAway.Init")
        RunCommand() {}

        @Override
        public Integer call() throws Exception {
            requireParallelism(spec, parallelism);
            requireFolderOrNew(archive);
            StreamExecutionEnvironment environment = JobEnvironment.local(RuntimeExecutionMode.STREAMING, parallelism);
            environment.enableCheckpointing(CHECKPOINT_INTERVAL.toMillis());
            DataStream<RawRecord> records =
                    source(environment, log(from, once), CollectorWatermarks.strategy(CollectorWatermarks.LATENESS));
            new AnalysisJob(false, RuleLibrary.builtIn().rules(), archive, archive).wire(records);
            PrintWriter err = spec.commandLine().getErr();
            err.println("reading " + from + (once ? " to its end" : ", until stopped") + " ...");
            err.flush();
            environment.execute("tokenstair run");
            return 0;
        }

        private static Source<RawRecord, ?, ?> log(String from, boolean once) {
            if (!from.startsWith("kafka://")) {
                Path folder = Path.of(from);
                requireLog(folder);
                return once ? FolderLogSource.bounded(folder) : FolderLogSource.unbounded(folder);
            }
            Matcher address = KAFKA_ADDRESS.matcher(from);
            if (!address.matches()) {
                throw new IllegalArgumentException(
                        "Cannot read the address " + from + ": give kafka://host:port/topic");
            }
            String servers = address.group(1);
            String topic = address.group(2);
            return once
                    ? KafkaLogSource.bounded(servers, topic, new Properties())
                    : KafkaLogSource.unbounded(servers, topic, new Properties());
        }
    }

    // ---- replay

    /** {@code replay}: the same analysis in batch, from raw tables. */
    @Command(
            name = "replay",
            description =
                    "Analyses the raw tables of an archive again, in batch, and writes a complete result archive.",
            footer = {"", "Example:", "  tokenstair replay --archive A --out O --digest"})
    static final class ReplayCommand implements Callable<Integer> {
        @Option(names = "--archive", required = true, paramLabel = "DIR", description = "archive with raw tables")
        Path archive;

        @Option(
                names = "--out",
                required = true,
                paramLabel = "DIR",
                description = "result archive; its result tables are replaced, raw tables are linked or copied into it")
        Path out;

        @Option(names = "--parallelism", paramLabel = "N", defaultValue = "1", description = "subtasks (default 1)")
        int parallelism;

        @Option(names = "--digest", description = "end with the line 'digest SHA256' over findings and token analyses")
        boolean digest;

        @Option(
                names = "--diff",
                paramLabel = "OTHER",
                description = "compare with another result archive; exit 1 if it differs")
        @Nullable
        Path diff;

        @Option(names = "--debug", description = "show stack traces")
        boolean debug;

        @Option(
                names = {"-h", "--help"},
                usageHelp = true,
                description = "show this help")
        boolean help;

        @Spec
        CommandSpec spec;

        @SuppressWarnings("NullAway.Init")
        ReplayCommand() {}

        @Override
        public Integer call() throws Exception {
            requireParallelism(spec, parallelism);
            ArchiveLayout.requireArchive(archive);
            if (diff != null && !ArchiveLayout.hasResults(diff)) {
                throw new IllegalArgumentException(
                        "Cannot compare with " + diff + ": it has no result tables; run tokenstair replay on it first");
            }
            requireFolderOrNew(out);
            Files.createDirectories(out);
            boolean inPlace = Files.isSameFile(archive, out);
            for (TableSchema<?> table : ResultTables.all()) {
                delete(ArchiveLayout.folder(out, table.table()));
            }
            StreamExecutionEnvironment environment = JobEnvironment.local(RuntimeExecutionMode.BATCH, parallelism);
            DataStream<RawRecord> records = source(
                    environment, ArchiveSource.of(archive), CollectorWatermarks.strategy(CollectorWatermarks.LATENESS));
            new AnalysisJob(true, RuleLibrary.builtIn().rules(), null, out).wire(records);
            environment.execute("tokenstair replay");
            if (!inPlace) {
                for (String table : RawTables.all()) {
                    delete(ArchiveLayout.folder(out, table));
                    linkTable(ArchiveLayout.folder(archive, table), ArchiveLayout.folder(out, table));
                }
            }
            PrintWriter print = spec.commandLine().getOut();
            int code = diff == null ? 0 : compare(print, diff);
            if (digest) {
                print.println("digest " + ResultDigest.of(out));
            }
            print.flush();
            return code;
        }

        private int compare(PrintWriter print, Path other) throws IOException {
            boolean differs = false;
            for (TableSchema<?> schema : List.of(ResultTables.FINDING, ResultTables.TOKEN_ANALYSIS)) {
                List<String> here = ResultDigest.rowHashes(out, schema);
                List<String> there = ResultDigest.rowHashes(other, schema);
                Set<String> onlyHere = new HashSet<>(here);
                onlyHere.removeAll(new HashSet<>(there));
                Set<String> onlyThere = new HashSet<>(there);
                onlyThere.removeAll(new HashSet<>(here));
                differs |= !onlyHere.isEmpty() || !onlyThere.isEmpty() || here.size() != there.size();
                print.printf(
                        "%-15s %7d rows here, %7d there, %6d only here, %6d only there%n",
                        schema.table(), here.size(), there.size(), onlyHere.size(), onlyThere.size());
            }
            print.println(differs ? "the archives differ" : "the archives say the same");
            return differs ? 1 : 0;
        }
    }

    // ---- what they share

    private static DataStream<RawRecord> source(
            StreamExecutionEnvironment environment,
            Source<RawRecord, ?, ?> source,
            WatermarkStrategy<RawRecord> watermarks) {
        return environment
                .fromSource(source, watermarks, "log", RawRecordTypeInfo.INSTANCE)
                .uid("log");
    }

    private static void requireLog(Path log) {
        try {
            if (Files.isDirectory(log) && !FolderLogReader.partitions(log).isEmpty()) {
                return;
            }
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot read " + log + ": " + e.getMessage(), e);
        }
        throw new IllegalArgumentException("Cannot read " + log
                + ": it is no folder log (no partition-0000 in it); give the folder a collector wrote");
    }

    private static void requireFolderOrNew(Path folder) {
        if (Files.exists(folder) && !Files.isDirectory(folder)) {
            throw new IllegalArgumentException("Cannot write to " + folder + ": it is a file; give a folder");
        }
    }

    private static void requireParallelism(CommandSpec spec, int parallelism) {
        if (parallelism < 1 || parallelism > JobEnvironment.MAX_PARALLELISM) {
            throw new CommandLine.ParameterException(
                    spec.commandLine(),
                    "Cannot run with --parallelism " + parallelism + ": give 1 to " + JobEnvironment.MAX_PARALLELISM);
        }
    }

    private static void delete(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            return;
        }
        Files.walkFileTree(folder, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.delete(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path visited, @Nullable IOException problem) throws IOException {
                if (problem != null) {
                    throw problem;
                }
                Files.delete(visited);
                return FileVisitResult.CONTINUE;
            }
        });
    }

    /** Links a table's files where the file system can, copies them where it cannot. Raw files are never changed. */
    private static void linkTable(Path from, Path to) throws IOException {
        if (!Files.isDirectory(from)) {
            return;
        }
        Files.walkFileTree(from, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Path target = to.resolve(from.relativize(file).toString());
                Files.createDirectories(target.getParent());
                try {
                    Files.createLink(target, file);
                } catch (UnsupportedOperationException | IOException e) {
                    Files.copy(file, target);
                }
                return FileVisitResult.CONTINUE;
            }
        });
    }
}
