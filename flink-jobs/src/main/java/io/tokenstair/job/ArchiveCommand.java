package io.tokenstair.job;

import io.tokenstair.job.sink.ArchiveSinks;
import io.tokenstair.job.source.FolderLogSource;
import io.tokenstair.job.step.EngineRecord;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code archive}: writes a log into the raw tables of an archive. */
@Command(
        name = "archive",
        description = "Writes a log into the raw tables of an archive.",
        footer = {"", "Example:", "  tokenstair import vllm-capture captures/quiet --archive A"})
final class ArchiveCommand implements Callable<Integer> {
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

    @Mixin
    JobOptions options;

    @Spec
    CommandSpec spec;

    @SuppressWarnings("NullAway.Init")
    ArchiveCommand() {}

    @Override
    public Integer call() throws Exception {
        JobOptions.requireLog(from);
        JobOptions.requireFolderOrNew(archive);
        StreamExecutionEnvironment environment = JobEnvironment.local(RuntimeExecutionMode.BATCH, 1);
        SingleOutputStreamOperator<EngineRecord> routed = JobOptions.source(
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
