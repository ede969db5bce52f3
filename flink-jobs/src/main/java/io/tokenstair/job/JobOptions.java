package io.tokenstair.job;

import io.tokenstair.job.source.RawRecord;
import io.tokenstair.job.source.RawRecordTypeInfo;
import io.tokenstair.log.FolderLogReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/** What every job command takes and checks. */
final class JobOptions {
    @Option(names = "--debug", description = "show stack traces")
    boolean debug;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "show this help")
    boolean help;

    JobOptions() {}

    static DataStream<RawRecord> source(
            StreamExecutionEnvironment environment,
            Source<RawRecord, ?, ?> source,
            WatermarkStrategy<RawRecord> watermarks) {
        return environment
                .fromSource(source, watermarks, "log", RawRecordTypeInfo.INSTANCE)
                .uid("log");
    }

    static void requireLog(Path log) {
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

    static void requireFolderOrNew(Path folder) {
        if (Files.exists(folder) && !Files.isDirectory(folder)) {
            throw new IllegalArgumentException("Cannot write to " + folder + ": it is a file; give a folder");
        }
    }

    static void requireParallelism(CommandSpec spec, int parallelism) {
        if (parallelism < 1 || parallelism > JobEnvironment.MAX_PARALLELISM) {
            throw new CommandLine.ParameterException(
                    spec.commandLine(),
                    "Cannot run with --parallelism " + parallelism + ": give 1 to " + JobEnvironment.MAX_PARALLELISM);
        }
    }
}
