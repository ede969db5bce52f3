package io.tokenstair.job.clock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.data.Offset.offset;

import io.tokenstair.archive.ArchiveLayout;
import io.tokenstair.archive.RawTableReader;
import io.tokenstair.archive.RawTables;
import io.tokenstair.archive.ResultTables;
import io.tokenstair.archive.TableReader;
import io.tokenstair.archive.TableSchema;
import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.clock.ClockFit;
import io.tokenstair.event.ClockFitted;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.EventKind;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.job.capture.JobRuns;
import io.tokenstair.job.source.ArchiveSource;
import io.tokenstair.job.source.FolderLogSource;
import io.tokenstair.log.FolderLogWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Events of three hosts, a process and a device through the whole job: what is aligned, what is not, and that every mode says the same. */
class MultiHostClocksIT {
    private static final long MS = ClockFleet.MS;
    private static final long SECOND = ClockFleet.SECOND;
    private static final int TOKENS = 60;
    private static final int DURING_TOKENS = 600;
    private static final String FITTED =
            RawTables.tablesOf(EventKind.CLOCK_FITTED).get(0);

    @TempDir
    static Path folder;

    private static final ClockFleet FLEET = new ClockFleet();
    private static Path log = Path.of("");
    private static Path archive = Path.of("");
    private static JobRuns streamed = new JobRuns(new TreeSet<>(), new TreeSet<>(), new TreeSet<>(), new TreeSet<>());
    private static List<TokenAnalysis> tokens = List.of();
    private static List<RequestAnalysis> requests = List.of();

    @BeforeAll
    static void runTheJob() throws Exception {
        FLEET.idle(20 * SECOND, true)
                .request("warm", "client", ClockFleet.CLIENT_CLOCK, 2 * TOKENS, true, token -> 3 * MS)
                .request("before", "client", ClockFleet.CLIENT_CLOCK, TOKENS, true, token -> 3 * MS)
                .request("gateway", "gateway", ClockFleet.PROCESS_CLOCK, TOKENS, true, token -> MS)
                .request("near", "gateway", ClockFleet.PROCESS_CLOCK, TOKENS, true, token -> 4_000)
                .request("stranger", "client", ClockFleet.STRANGER_CLOCK, TOKENS, true, token -> 3 * MS)
                .request(
                        "early",
                        "client",
                        ClockFleet.CLIENT_CLOCK,
                        TOKENS,
                        true,
                        token -> 3 * MS,
                        token -> token == 20 ? -5 * MS : 0)
                .stalling(30 * MS)
                .request("stalled", "gateway", ClockFleet.PROCESS_CLOCK, TOKENS, true, token -> MS);
        assertThat(FLEET.now).isLessThan(ClockFleet.STEP_NANOS);
        FLEET.idle(ClockFleet.STEP_NANOS - FLEET.now - 7 * SECOND, true)
                .request("during", "client", ClockFleet.CLIENT_CLOCK, DURING_TOKENS, true, token -> 3 * MS);
        FLEET.idle(ClockFleet.STEP_NANOS - FLEET.now + 8 * SECOND, true)
                .request("after", "client", ClockFleet.CLIENT_CLOCK, TOKENS, true, token -> 3 * MS)
                .silence(ClockFit.REACH_NANOS + 10 * SECOND)
                .request("beyond", "client", ClockFleet.CLIENT_CLOCK, TOKENS, false, token -> 3 * MS);

        log = folder.resolve("log");
        List<LoggedEvent> events = new ArrayList<>(FLEET.events);
        events.sort(Comparator.comparing(LoggedEvent::header, EventHeader.ORDER));
        try (FolderLogWriter writer = new FolderLogWriter(log, 0)) {
            for (LoggedEvent event : events) {
                writer.append(EventCodec.encode(event));
            }
        }
        archive = folder.resolve("archive");
        streamed = JobRuns.of(RuntimeExecutionMode.STREAMING, 2, FolderLogSource.bounded(log), archive, archive);
        tokens = rows(ResultTables.TOKEN_ANALYSIS);
        requests = rows(ResultTables.REQUEST_ANALYSIS);
    }

    private static <R extends Record> List<R> rows(TableSchema<R> schema) throws IOException {
        List<R> rows = new ArrayList<>();
        for (Path file : ArchiveLayout.files(archive, schema.table())) {
            try (TableReader<R> reader = TableReader.open(schema, file)) {
                reader.forEachRemaining(rows::add);
            }
        }
        return rows;
    }

    private static List<TokenAnalysis> tokensOf(String request) {
        return tokens.stream()
                .filter(token -> token.requestId().equals(request))
                .sorted(Comparator.comparingInt(TokenAnalysis::tokenIndex))
                .toList();
    }

    private static RequestAnalysis request(String id) {
        return requests.stream()
                .filter(request -> request.requestId().equals(id))
                .findFirst()
                .orElseThrow();
    }

    /** Every token was delivered as long after it was made as it truly was, within the bound, which is no wider than this. */
    private static void deliveredAsItWas(String request, long widestNanos) {
        List<TokenAnalysis> all = tokensOf(request);
        assertThat(all).hasSize(TOKENS);
        for (TokenAnalysis token : all) {
            long truth = Objects.requireNonNull(FLEET.truth.get(request + "@" + token.tokenIndex()));
            assertThat(token.deliveryNanos()).as("%s", token).isNotNull();
            assertThat(token.deliveredBoundNanos()).isBetween(1L, widestNanos);
            assertThat(Math.abs(token.deliveryNanos() - truth)).isLessThanOrEqualTo(token.deliveredBoundNanos());
            assertThat(token.deliveredSigmaNanos()).isBetween(0L, token.deliveredBoundNanos());
            assertThat(token.sigmaNanos()).isNotNull().isLessThanOrEqualTo(token.boundNanos());
            assertThat(token.missingLayers()).doesNotContain("clocks");
        }
    }

    @Test
    void stampsOfAnotherHostAndOfAProcessAreComparedWithinTheirBound() {
        deliveredAsItWas("gateway", 20_000);
        deliveredAsItWas("before", 80_000);
    }

    @Test
    void afterAClockSteppedItsStampsAreRightAgainOverASegmentOfItsOwn() throws Exception {
        deliveredAsItWas("after", 80_000);
        List<LoggedEvent> stepped = segments().stream()
                .filter(event -> event.event() instanceof ClockFitted segment && segment.stepped())
                .toList();
        assertThat(stepped).singleElement().satisfies(event -> {
            ClockFitted segment = (ClockFitted) event.event();
            assertThat(segment.fromClockId()).isEqualTo(ClockFleet.CLIENT_CLOCK);
            assertThat(segment.startNanos())
                    .isGreaterThan(ClockFleet.reading(ClockFleet.CLIENT_CLOCK, ClockFleet.STEP_NANOS) - SECOND);
        });
    }

    @Test
    void whereAClockStepsNoDeliveryIsKnownAndNoneIsWrong() {
        List<TokenAnalysis> all = tokensOf("during");
        assertThat(all).hasSize(DURING_TOKENS);
        int unknown = 0;
        for (TokenAnalysis token : all) {
            long truth = Objects.requireNonNull(FLEET.truth.get("during@" + token.tokenIndex()));
            assertThat(token.deliveryCause()).as("%s", token).isNull();
            if (token.deliveryNanos() == null) {
                unknown++;
                assertThat(token.missingLayers()).contains("clocks");
            } else {
                assertThat(Math.abs(token.deliveryNanos() - truth)).isLessThanOrEqualTo(token.deliveredBoundNanos());
            }
        }
        assertThat(unknown).isBetween(10, 500);
        assertThat(request("during").missingLayers()).contains("clocks");
    }

    @Test
    void withoutAPathNothingIsJoinedAndThatIsSaid() {
        List<TokenAnalysis> all = tokensOf("stranger");
        assertThat(all).hasSize(TOKENS);
        assertThat(all).allSatisfy(token -> {
            assertThat(token.producedEpochNanos()).isNotNull();
            assertThat(token.gapNanos()).isNotNull();
            assertThat(token.deliveryNanos()).isNull();
            assertThat(token.deliveredEpochNanos()).isNull();
            assertThat(token.missingLayers()).contains("clocks");
        });
        assertThat(request("stranger").missingLayers()).contains("clocks");
        assertThat(request("stranger").invalidStamps()).isNull();
    }

    @Test
    void beyondItsReachASegmentIsNotUsed() {
        assertThat(tokensOf("beyond")).hasSize(TOKENS).allSatisfy(token -> {
            assertThat(token.producedEpochNanos()).isNull();
            assertThat(token.deliveryNanos()).isNull();
            assertThat(token.gapNanos()).isNotNull();
            assertThat(token.missingLayers()).contains("clocks");
        });
    }

    @Test
    void whereBoundsOverlapTheDifferenceIsKeptAsItIs() {
        deliveredAsItWas("near", 20_000);
        // Whether these were delivered before they were made cannot be told; nothing is clamped or dropped.
        assertThat(tokensOf("near"))
                .allSatisfy(token ->
                        assertThat(Math.abs(token.deliveryNanos())).isLessThanOrEqualTo(token.deliveredBoundNanos()));
        assertThat(request("near").invalidStamps()).isNull();
    }

    @Test
    void aDifferenceThatCannotBeIsCountedAndNeverClamped() {
        List<TokenAnalysis> all = tokensOf("early");
        assertThat(all.get(20).deliveryNanos()).isNull();
        assertThat(all.get(20).deliveredEpochNanos()).isNull();
        assertThat(all.get(20).missingLayers()).doesNotContain("clocks");
        assertThat(all.get(21).deliveryNanos()).isCloseTo(3 * MS, offset(80_000L));
        assertThat(request("early").invalidStamps()).isEqualTo(1);
    }

    @Test
    void whatADeviceRecordedOnItsClockExplainsTheEnginesGap() {
        TokenAnalysis stalled = tokensOf("stalled").get(TOKENS - 5);

        assertThat(stalled.cause()).isEqualTo("STREAM_SYNC");
        assertThat(stalled.partSyncNanos()).isBetween(29 * MS, 31 * MS);
    }

    // ---- modes

    private static List<LoggedEvent> segments() throws Exception {
        List<LoggedEvent> events = new ArrayList<>();
        for (Path file : ArchiveLayout.files(archive, FITTED)) {
            try (RawTableReader reader = RawTableReader.open(FITTED, file)) {
                while (reader.hasNext()) {
                    events.add(EventCodec.decode(reader.next().wireBytes()));
                }
            }
        }
        return events;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4})
    void streamingSaysTheSameAtEveryParallelism(int parallelism) throws Exception {
        isTheSame(JobRuns.of(
                RuntimeExecutionMode.STREAMING,
                parallelism,
                FolderLogSource.bounded(log),
                folder.resolve("stream-" + parallelism)));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void aReplayUsesTheArchivedSegments(int parallelism) throws Exception {
        isTheSame(JobRuns.of(
                RuntimeExecutionMode.BATCH,
                parallelism,
                ArchiveSource.of(archive),
                folder.resolve("batch-" + parallelism)));
    }

    @Test
    void aReplayNeedsNoSampleWhereThereAreSegments() throws Exception {
        Path copy = folder.resolve("without-samples");
        Path samples = ArchiveLayout.folder(
                archive, RawTables.tablesOf(EventKind.CLOCK_SAMPLED).get(0));
        try (Stream<Path> files = Files.walk(archive)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                if (!file.startsWith(samples)) {
                    Path target = copy.resolve(archive.relativize(file).toString());
                    Files.createDirectories(target.getParent());
                    Files.copy(file, target);
                }
            }
        }
        isTheSame(JobRuns.of(RuntimeExecutionMode.BATCH, 2, ArchiveSource.of(copy), folder.resolve("batch-segments")));
    }

    private static void isTheSame(JobRuns run) {
        assertThat(JobRuns.difference(run.tokens(), streamed.tokens())).isEmpty();
        assertThat(JobRuns.difference(run.requests(), streamed.requests())).isEmpty();
        assertThat(JobRuns.difference(run.findings(), streamed.findings())).isEmpty();
        assertThat(JobRuns.difference(run.statistics(), streamed.statistics())).isEmpty();
    }
}
