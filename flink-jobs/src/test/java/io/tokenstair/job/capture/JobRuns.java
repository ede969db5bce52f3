package io.tokenstair.job.capture;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.archive.ArchiveLayout;
import io.tokenstair.archive.ResultTables;
import io.tokenstair.archive.TableReader;
import io.tokenstair.archive.TableSchema;
import io.tokenstair.job.AnalysisJob;
import io.tokenstair.job.JobEnvironment;
import io.tokenstair.job.source.CollectorWatermarks;
import io.tokenstair.job.source.RawRecord;
import io.tokenstair.job.source.RawRecordTypeInfo;
import io.tokenstair.rule.library.RuleLibrary;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.jspecify.annotations.Nullable;

/**
 * What a run of the job said, as text rows that can be compared.
 *
 * @param tokens rows of token_analysis
 * @param findings rows of finding
 * @param requests rows of request_analysis
 * @param statistics rows of quantile, covariance and priority_displacement
 */
public record JobRuns(
        TreeSet<String> tokens, TreeSet<String> findings, TreeSet<String> requests, TreeSet<String> statistics) {

    /** Runs the analysis over a bounded source. */
    public static JobRuns of(RuntimeExecutionMode mode, int parallelism, Source<RawRecord, ?, ?> source, Path results)
            throws Exception {
        return of(mode, parallelism, source, results, null);
    }

    /** Runs the analysis over a bounded source, and archives what it read. */
    public static JobRuns of(
            RuntimeExecutionMode mode,
            int parallelism,
            Source<RawRecord, ?, ?> source,
            Path results,
            @Nullable Path rawArchive)
            throws Exception {
        run(mode, parallelism, source, results, rawArchive);
        TreeSet<String> statistics = rows(results, ResultTables.QUANTILE);
        statistics.addAll(rows(results, ResultTables.COVARIANCE));
        statistics.addAll(rows(results, ResultTables.PRIORITY_DISPLACEMENT));
        statistics.addAll(rows(results, ResultTables.REMARK));
        return new JobRuns(
                rows(results, ResultTables.TOKEN_ANALYSIS),
                rows(results, ResultTables.FINDING),
                rows(results, ResultTables.REQUEST_ANALYSIS),
                statistics);
    }

    /** Runs the analysis with the built-in rules over a bounded source; what it says is in the tables of {@code results}. */
    public static void run(
            RuntimeExecutionMode mode,
            int parallelism,
            Source<RawRecord, ?, ?> source,
            Path results,
            @Nullable Path rawArchive)
            throws Exception {
        StreamExecutionEnvironment environment = JobEnvironment.local(mode, parallelism);
        new AnalysisJob(
                        mode == RuntimeExecutionMode.BATCH,
                        RuleLibrary.builtIn().rules(),
                        rawArchive,
                        results)
                .wire(environment
                        .fromSource(
                                source,
                                CollectorWatermarks.strategy(CollectorWatermarks.LATENESS),
                                "log",
                                RawRecordTypeInfo.INSTANCE)
                        .uid("log"));
        environment.execute("analysis");
    }

    /** Rows of a table as text, none twice. */
    public static <R extends Record> TreeSet<String> rows(Path results, TableSchema<R> schema) throws Exception {
        List<String> rows = new ArrayList<>();
        for (Path file : ArchiveLayout.files(results, schema.table())) {
            try (TableReader<R> reader = TableReader.open(schema, file)) {
                reader.forEachRemaining(row -> rows.add(row.toString()));
            }
        }
        TreeSet<String> set = new TreeSet<>(rows);
        assertThat(set).as("nothing is said twice").hasSameSizeAs(rows);
        return set;
    }

    /** Up to six rows that only one side has: thousands would hide them. */
    public static List<String> difference(TreeSet<String> said, TreeSet<String> expected) {
        List<String> difference = new ArrayList<>();
        said.stream()
                .filter(row -> !expected.contains(row))
                .limit(3)
                .forEach(row -> difference.add("too much: " + row));
        expected.stream().filter(row -> !said.contains(row)).limit(3).forEach(row -> difference.add("missing: " + row));
        return difference;
    }
}
