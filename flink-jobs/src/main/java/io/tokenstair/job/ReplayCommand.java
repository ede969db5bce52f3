package io.tokenstair.job;

import io.tokenstair.archive.ArchiveLayout;
import io.tokenstair.archive.RawTables;
import io.tokenstair.archive.ResultTables;
import io.tokenstair.archive.TableSchema;
import io.tokenstair.event.EventKind;
import io.tokenstair.job.name.JoinedNames;
import io.tokenstair.job.source.ArchiveSource;
import io.tokenstair.job.source.CollectorWatermarks;
import io.tokenstair.job.source.RawRecord;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code replay}: the same analysis in batch, from raw tables. */
@Command(
        name = "replay",
        description = "Analyses the raw tables of an archive again, in batch, and writes a complete result archive.",
        footer = {"", "Example:", "  tokenstair replay --archive A --out O --digest"})
final class ReplayCommand implements Callable<Integer> {
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

    @Option(
            names = "--rules",
            paramLabel = "FILE|FOLDER",
            description =
                    "rules beside the built-in ones, in force from the beginning; only for an archive that holds no revisions of rules")
    @Nullable
    Path rules;

    @Option(
            names = "--fixed-rules",
            description = "match with flink-cep as it comes; only for an archive that holds no revisions of rules")
    boolean fixedRules;

    @Option(names = "--digest", description = "end with the line 'digest SHA256' over findings and token analyses")
    boolean digest;

    @Option(
            names = "--diff",
            paramLabel = "OTHER",
            description = "compare with another result archive; exit 1 if it differs")
    @Nullable
    Path diff;

    @Mixin
    JobOptions options;

    @Spec
    CommandSpec spec;

    @SuppressWarnings("NullAway.Init")
    ReplayCommand() {}

    @Override
    public Integer call() throws Exception {
        JobOptions.requireParallelism(spec, parallelism);
        ArchiveLayout.requireArchive(archive);
        if (diff != null && !ArchiveLayout.hasResults(diff)) {
            throw new IllegalArgumentException(
                    "Cannot compare with " + diff + ": it has no result tables; run tokenstair replay on it first");
        }
        boolean revised =
                !ArchiveLayout.files(archive, EventKind.RULE_REVISED.wireName()).isEmpty();
        if (revised && (rules != null || fixedRules)) {
            throw new IllegalArgumentException(
                    "Cannot replay " + archive
                            + " with other rules: it holds the revisions that were in force; leave --rules and --fixed-rules away");
        }
        AnalysisJob job =
                new AnalysisJob(true, RuleFiles.withBuiltIn(rules), null, out).withNames(JoinedNames.of(archive));
        JobOptions.requireFolderOrNew(out);
        Files.createDirectories(out);
        boolean inPlace = Files.isSameFile(archive, out);
        for (TableSchema<?> table : ResultTables.all()) {
            delete(ArchiveLayout.folder(out, table.table()));
        }
        StreamExecutionEnvironment environment = JobEnvironment.local(RuntimeExecutionMode.BATCH, parallelism);
        DataStream<RawRecord> records = JobOptions.source(
                environment, ArchiveSource.of(archive), CollectorWatermarks.strategy(CollectorWatermarks.LATENESS));
        (fixedRules ? job.withFixedRules() : job).wire(records);
        environment.execute("tokenstair replay");
        if (!inPlace) {
            if (ArchiveLayout.isWrittenByRun(archive)) {
                ArchiveLayout.markWrittenByRun(out);
            }
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
