package io.tokenstair.job.cases;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.archive.ArchiveLayout;
import io.tokenstair.archive.ResultTables;
import io.tokenstair.archive.TableReader;
import io.tokenstair.archive.TableSchema;
import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.cause.Part;
import io.tokenstair.collect.ImportMain;
import io.tokenstair.job.ToldInChinese;
import io.tokenstair.job.capture.JobRuns;
import io.tokenstair.job.source.FolderLogSource;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.jspecify.annotations.Nullable;

/** What the job said of one case. */
record CaseResults(String name, List<TokenAnalysis> tokens, List<RequestAnalysis> requests, List<Finding> findings) {

    /** What one run of the job says of events, imported as a user does from lines of JSON; its tables are in {@code results} of the folder. */
    static CaseResults ofEvents(String lines, Path folder) throws Exception {
        Path file = Files.writeString(folder.resolve("events.jsonl"), lines);
        Path log = folder.resolve("log");
        StringWriter errors = new StringWriter();
        int code = ImportMain.run(
                new PrintWriter(new StringWriter()),
                new PrintWriter(errors, true),
                false,
                "events",
                file.toString(),
                "--log",
                log.toString(),
                "--strict");
        assertThat(code).as(errors.toString()).isZero();
        return ofLog(log, folder.resolve("results"));
    }

    /** What one run of the job says of a log; its tables are in {@code results}. */
    static CaseResults ofLog(Path log, Path results) throws Exception {
        JobRuns.run(RuntimeExecutionMode.STREAMING, 2, FolderLogSource.bounded(log), results, null);
        return read(results);
    }

    static CaseResults read(Path results) throws Exception {
        return new CaseResults(
                "",
                rows(results, ResultTables.TOKEN_ANALYSIS),
                rows(results, ResultTables.REQUEST_ANALYSIS),
                rows(results, ResultTables.FINDING));
    }

    private static <R extends Record> List<R> rows(Path results, TableSchema<R> schema) throws Exception {
        List<R> rows = new ArrayList<>();
        for (Path file : ArchiveLayout.files(results, schema.table())) {
            try (TableReader<R> reader = TableReader.open(schema, file)) {
                reader.forEachRemaining(rows::add);
            }
        }
        return rows;
    }

    /** That all of it is told in both languages. */
    void toldInChinese() {
        assertThat(findings).isNotEmpty().allSatisfy(ToldInChinese::finding);
        assertThat(tokens).isNotEmpty().allSatisfy(ToldInChinese::token);
    }

    /** What was said of one case. */
    CaseResults of(String caseName) {
        String prefix = caseName + "-";
        return new CaseResults(
                caseName,
                tokens.stream()
                        .filter(token -> token.requestId().startsWith(prefix))
                        .sorted(Comparator.comparing(TokenAnalysis::requestId)
                                .thenComparingInt(TokenAnalysis::sequenceIndex)
                                .thenComparingInt(TokenAnalysis::tokenIndex))
                        .toList(),
                requests.stream()
                        .filter(request -> request.requestId().startsWith(prefix))
                        .toList(),
                findings.stream()
                        .filter(finding -> caseName.equals(finding.engineId())
                                || (finding.requestId() != null
                                        && finding.requestId().startsWith(prefix)))
                        .toList());
    }

    List<TokenAnalysis> of(String request, int from, int to) {
        return tokens.stream()
                .filter(token -> token.requestId().equals(name + "-" + request))
                .filter(token -> token.tokenIndex() >= from && token.tokenIndex() <= to)
                .toList();
    }

    TokenAnalysis token(String request, int index) {
        List<TokenAnalysis> found = of(request, index, index);
        assertThat(found).as("%s: token %d of %s", name, index, request).hasSize(1);
        return found.get(0);
    }

    RequestAnalysis request(String request) {
        List<RequestAnalysis> found = requests.stream()
                .filter(row -> row.requestId().equals(name + "-" + request))
                .toList();
        assertThat(found).as("%s: %s", name, request).isNotEmpty();
        return found.get(0);
    }

    /** All causes that are named anywhere: of tokens, deliveries, requests and findings. */
    Set<String> causes() {
        Set<String> causes = new TreeSet<>();
        tokens.forEach(token -> {
            add(causes, token.cause());
            add(causes, token.deliveryCause());
        });
        requests.forEach(request -> causes.addAll(request.requestCauses()));
        findings.forEach(finding -> causes.add(finding.cause()));
        return causes;
    }

    private static void add(Set<String> causes, @Nullable String cause) {
        if (cause != null) {
            causes.add(cause);
        }
    }

    /** What detectors found of a cause. */
    List<Finding> findings(String cause) {
        return findings.stream()
                .filter(finding -> finding.cause().equals(cause) && !RuleTable.isRule(finding.rule()))
                .toList();
    }

    Finding finding(String cause) {
        List<Finding> found = findings(cause);
        assertThat(found)
                .as(
                        "%s: findings %s among %s",
                        name, cause, findings.stream().map(Finding::cause).toList())
                .isNotEmpty();
        return found.get(0);
    }

    /** Each of these tokens is slow for this cause; the first of them has this request as its culprit. */
    CaseResults slow(String request, int from, int to, String cause, @Nullable String culprit) {
        return slow(request, from, to, cause, culprit, null);
    }

    /** The same, with a process or device as its culprit where no request is. */
    CaseResults slow(
            String request, int from, int to, String cause, @Nullable String culprit, @Nullable String process) {
        for (TokenAnalysis token : of(request, from, to)) {
            assertThat(token.cause())
                    .as("%s: token %d of %s, %s", name, token.tokenIndex(), request, token.chain())
                    .isEqualTo(cause);
        }
        TokenAnalysis first = token(request, from);
        assertThat(first.culpritRequestId())
                .as("%s: who caused token %d", name, from)
                .isEqualTo(culprit == null ? process : name + "-" + culprit);
        return this;
    }

    /** Most of these tokens are slow for this cause, and none for another one. */
    CaseResults mostly(String request, int from, int to, String cause) {
        List<TokenAnalysis> all = of(request, from, to);
        List<String> causes =
                all.stream().map(TokenAnalysis::cause).filter(Objects::nonNull).toList();
        assertThat(Set.copyOf(causes))
                .as("%s: %d to %d of %s", name, from, to, request)
                .isEqualTo(Set.of(cause));
        assertThat(causes.size()).as("%s: slow tokens of %s", name, request).isGreaterThan(all.size() / 2);
        return this;
    }

    /** None of these tokens is slow. */
    CaseResults quiet(String request, int from, int to) {
        for (TokenAnalysis token : of(request, from, to)) {
            assertThat(token.cause())
                    .as("%s: token %d of %s, %s", name, token.tokenIndex(), request, token.chain())
                    .isNull();
        }
        return this;
    }

    /** No cause of these is named anywhere. */
    CaseResults never(String... causes) {
        assertThat(causes()).as("causes of %s: %s", name, findings).doesNotContain(causes);
        return this;
    }

    static long part(TokenAnalysis token, Part part) {
        Long nanos = token.partNanos(part);
        return nanos == null ? 0 : nanos;
    }

    /** Parts of every gap sum exactly. */
    void sums() {
        for (TokenAnalysis token : tokens) {
            if (token.gapNanos() != null && token.partReferenceNanos() != null) {
                assertThat(sum(token)).as("parts of %s", token).isEqualTo(token.gapNanos());
            }
        }
    }

    private static long sum(TokenAnalysis token) {
        long sum = 0;
        for (Part part : Part.values()) {
            sum += part(token, part);
        }
        return sum;
    }

    @Override
    public String toString() {
        return name + " " + causes() + findings.stream().map(Finding::narrative).collect(Collectors.joining("\n"));
    }
}
