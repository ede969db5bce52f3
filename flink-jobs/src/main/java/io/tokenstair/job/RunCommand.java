package io.tokenstair.job;

import io.tokenstair.archive.ArchiveLayout;
import io.tokenstair.job.health.JobFigures;
import io.tokenstair.job.health.JobPage;
import io.tokenstair.job.source.CollectorWatermarks;
import io.tokenstair.job.source.FolderLogSource;
import io.tokenstair.job.source.KafkaLogSource;
import io.tokenstair.job.source.RawRecord;
import io.tokenstair.job.source.RawRecordTypeInfo;
import io.tokenstair.log.FolderLogReader;
import io.tokenstair.log.KafkaAddress;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Properties;
import java.util.UUID;
import java.util.concurrent.Callable;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code run}: the streaming job. */
@Command(
        name = "run",
        description =
                "Runs the streaming job on this machine: reads a log, writes raw and result tables, until stopped.",
        footer = {"", "Example:", "  tokenstair run --from kafka://localhost:9092/tokenstair --archive A"})
final class RunCommand implements Callable<Integer> {
    private static final Duration CHECKPOINT_INTERVAL = Duration.ofSeconds(10);

    @Option(
            names = "--from",
            required = true,
            paramLabel = "LOG",
            description = "kafka://host:port/topic, or the folder of an embedded log")
    String from;

    @Option(names = "--archive", required = true, paramLabel = "DIR", description = "archive to write")
    Path archive;

    @Option(
            names = "--rules",
            paramLabel = "FILE|FOLDER",
            description = "rules beside the built-in ones; a built-in rule's id with a higher version takes its place")
    @Nullable
    Path rules;

    @Option(
            names = "--rules-from",
            paramLabel = "LOG",
            description =
                    "control log with revisions of rules, as rules apply writes it: kafka://host:port/topic, or a folder")
    @Nullable
    String rulesFrom;

    @Option(
            names = "--fixed-rules",
            description = "match with flink-cep as it comes: the rules never change, and their activity is not counted")
    boolean fixedRules;

    @Option(
            names = "--once",
            description = "end where the log ends now; revisions of rules are read to their end first")
    boolean once;

    @Option(
            names = "--metrics-listen",
            paramLabel = "PORT",
            description = "serve the job's own figures at /metrics of this port of 127.0.0.1, or of HOST:PORT")
    @Nullable
    String metricsListen;

    @Option(names = "--parallelism", paramLabel = "N", defaultValue = "1", description = "subtasks (default 1)")
    int parallelism;

    @Mixin
    JobOptions options;

    @Spec
    CommandSpec spec;

    @SuppressWarnings("NullAway.Init")
    RunCommand() {}

    @Override
    public Integer call() throws Exception {
        JobOptions.requireParallelism(spec, parallelism);
        JobOptions.requireFolderOrNew(archive);
        if (fixedRules && rulesFrom != null) {
            throw new ParameterException(
                    spec.commandLine(),
                    "Cannot take revisions of rules that are fixed: leave --fixed-rules or" + " --rules-from away");
        }
        if (metricsListen == null) {
            run(new Configuration());
            return 0;
        }
        InetSocketAddress address = JobPage.address(metricsListen);
        if (address == null) {
            throw new ParameterException(
                    spec.commandLine(),
                    "Cannot listen on " + metricsListen + ": --metrics-listen takes a port, or HOST:PORT");
        }
        String page = UUID.randomUUID().toString();
        Configuration cluster = new Configuration();
        JobFigures.report(page, cluster);
        try (JobPage figures = JobPage.start(address, () -> JobFigures.text(page))) {
            PrintWriter err = spec.commandLine().getErr();
            err.println("Its own figures: port " + figures.port() + ", /metrics");
            err.flush();
            run(cluster);
        }
        return 0;
    }

    private void run(Configuration cluster) throws Exception {
        StreamExecutionEnvironment environment =
                JobEnvironment.local(RuntimeExecutionMode.STREAMING, parallelism, cluster);
        environment.enableCheckpointing(CHECKPOINT_INTERVAL.toMillis());
        DataStream<RawRecord> records = JobOptions.source(
                environment, log(from, once), CollectorWatermarks.strategy(CollectorWatermarks.LATENESS));
        AnalysisJob job = new AnalysisJob(false, RuleFiles.withBuiltIn(rules), archive, archive);
        if (fixedRules) {
            job.withFixedRules().wire(records);
        } else {
            DataStream<RawRecord> revisions = rulesFrom == null ? null : revisions(environment, rulesFrom);
            job.wire(records, revisions, once);
        }
        PrintWriter err = spec.commandLine().getErr();
        err.println("reading " + from + (once ? " to its end" : ", until stopped") + " ...");
        err.flush();
        ArchiveLayout.markWrittenByRun(archive);
        environment.execute("tokenstair run");
    }

    /** The control log: idle, it never holds event time back. */
    private DataStream<RawRecord> revisions(StreamExecutionEnvironment environment, String control) throws IOException {
        if (!control.startsWith("kafka://")) {
            // What is applied later makes the first partition.
            JobOptions.requireFolderOrNew(Path.of(control));
            Files.createDirectories(Path.of(control));
            if (once && FolderLogReader.partitions(Path.of(control)).isEmpty()) {
                throw new IllegalArgumentException("Cannot read revisions of rules from " + control
                        + ": it is no folder log (no partition-0000 in it); leave --rules-from away");
            }
        }
        return environment
                .fromSource(
                        log(control, once, !once),
                        WatermarkStrategy.noWatermarks(),
                        "rules-log",
                        RawRecordTypeInfo.INSTANCE)
                .setParallelism(1)
                .uid("rules-log");
    }

    private static Source<RawRecord, ?, ?> log(String from, boolean once) {
        return log(from, once, false);
    }

    private static Source<RawRecord, ?, ?> log(String from, boolean once, boolean mayBeEmpty) {
        if (!from.startsWith("kafka://")) {
            Path folder = Path.of(from);
            if (!mayBeEmpty) {
                JobOptions.requireLog(folder);
            }
            return once ? FolderLogSource.bounded(folder) : FolderLogSource.unbounded(folder);
        }
        KafkaAddress address = KafkaAddress.of(from);
        if (address == null) {
            throw new IllegalArgumentException("Cannot read the address " + from + ": give kafka://host:port/topic");
        }
        return once
                ? KafkaLogSource.bounded(address.servers(), address.topic(), new Properties())
                : KafkaLogSource.unbounded(address.servers(), address.topic(), new Properties());
    }
}
