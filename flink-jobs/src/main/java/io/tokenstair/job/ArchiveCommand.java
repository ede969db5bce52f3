package io.tokenstair.job;

import io.tokenstair.archive.ArchiveLayout;
import io.tokenstair.archive.RawTableReader;
import io.tokenstair.event.EventKind;
import io.tokenstair.job.sink.ArchiveSinks;
import io.tokenstair.job.source.ArchiveSource;
import io.tokenstair.job.source.FolderLogSource;
import io.tokenstair.job.source.RawRecord;
import io.tokenstair.job.step.EngineRecord;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.streaming.api.datastream.DataStream;
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
    @Option(names = "--from", paramLabel = "LOG", description = "folder log to read to its end")
    @Nullable
    Path from;

    @Option(names = "--from-archive", paramLabel = "DIR", description = "archive whose raw tables to add")
    @Nullable
    Path fromArchive;

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
        if ((from == null) == (fromArchive == null)) {
            throw new IllegalArgumentException("Cannot tell what to archive: give --from or --from-archive");
        }
        JobOptions.requireFolderOrNew(archive);
        StreamExecutionEnvironment environment = JobEnvironment.local(RuntimeExecutionMode.BATCH, 1);
        DataStream<RawRecord> records;
        if (from != null) {
            JobOptions.requireLog(from);
            records = JobOptions.source(environment, FolderLogSource.bounded(from), WatermarkStrategy.noWatermarks());
        } else {
            Path other = ArchiveLayout.requireArchive(Objects.requireNonNull(fromArchive));
            if (Files.isDirectory(archive) && Files.isSameFile(other, archive)) {
                throw new IllegalArgumentException("Cannot add " + archive + " to itself: give another --archive");
            }
            records = JobOptions.source(environment, ArchiveSource.of(other), WatermarkStrategy.noWatermarks());
        }
        SingleOutputStreamOperator<EngineRecord> routed =
                records.process(new RouteRecords(true)).name("route-records").uid("route-records");
        routed.getSideOutput(RouteRecords.ARCHIVE)
                .sinkTo(ArchiveSinks.raw(archive))
                .name("raw-archive")
                .uid("raw-archive");
        environment.execute("tokenstair archive");
        if (summary != null) {
            spec.commandLine().getOut().println(figures(Files.readString(summary)));
        } else if (fromArchive != null) {
            // Its rows were taken for events when they were archived: none of them is refused now.
            long rows = rows(fromArchive);
            spec.commandLine().getOut().println("read " + rows + ", accepted " + rows + ", rejected 0");
        }
        return 0;
    }

    /** Events in the raw tables of an archive: a step, whose parts lie in three tables, is one. */
    private static long rows(Path archive) throws IOException {
        long rows = 0;
        for (EventKind kind : EventKind.values()) {
            for (Path file : ArchiveLayout.files(archive, kind.wireName())) {
                try (RawTableReader reader = RawTableReader.open(kind.wireName(), file)) {
                    while (reader.hasNext()) {
                        reader.next();
                        rows++;
                    }
                }
            }
        }
        return rows;
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
