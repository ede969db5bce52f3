package io.tokenstair.job.name;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.archive.ArchiveLayout;
import io.tokenstair.archive.ResultTables;
import io.tokenstair.archive.TableReader;
import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.event.Event;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.IdAliased;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.RequestCompleted;
import io.tokenstair.event.RequestQueued;
import io.tokenstair.event.RequestReceived;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.foreign.LlamaCppNames;
import io.tokenstair.job.JobMain;
import io.tokenstair.log.FolderLogAppender;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Names are joined where all of them are known before the analysis begins, and a replay never knows more than the job whose archive it reads. */
class JoinedNamesIT {
    private static final long EPOCH_MILLIS = 1_795_000_000_000L;

    @TempDir
    Path folder;

    private Path log;

    @BeforeEach
    void aClientAndAnEngineWhoseNamesAreToldToBeOneAtTheEnd() throws Exception {
        log = folder.resolve("log");
        append(
                log,
                received("client", "chat-1"),
                new RequestQueued("engine-0", 0, 1, "task-77", null, 10L, null, null),
                new RequestCompleted("client", "chat-1", "complete", 200, null, 0L, 0L, null, null),
                new IdAliased("chat-1", "task-77", "response"));
    }

    private static RequestReceived received(String observer, String requestId) {
        return new RequestReceived(observer, requestId, null, null, null, null, null, 10L, null, null, false);
    }

    private static void append(Path log, Event... events) throws Exception {
        List<byte[]> records = new ArrayList<>();
        for (int i = 0; i < events.length; i++) {
            long nanos = 1_000_000L * (i + 1);
            records.add(EventCodec.encode(new LoggedEvent(
                    new EventHeader("collector-0", 1, i, "host/monotonic", nanos, EPOCH_MILLIS + i), events[i])));
        }
        FolderLogAppender.append(log, records);
    }

    @Test
    void namesOfAnImportAreJoined() throws Exception {
        assertThat(requests(replayed(log)))
                .extracting(RequestAnalysis::requestId)
                .containsExactly("chat-1");
    }

    @Test
    void aGatewayThatReadTheAnswersIdStandsForAClientThatDidNotReport() throws Exception {
        Path gateway = folder.resolve("gateway-log");
        append(
                gateway,
                received("gateway", "mine"),
                new IdAliased("mine", "cmpl-88e42d13", "stream-id"),
                // What a router behind it calls it, which the router's worker takes over.
                received("gateway", "88e42d13"),
                new RequestQueued("engine-0", 0, 1, "88e42d13", null, 10L, null, null),
                received("gateway", "yours"),
                new IdAliased("yours", "chatcmpl-x", "stream-id"),
                // What an engine without ids did, as both its stream and its log tell it.
                new IdAliased("yours", "work:7", "llamacpp-work"),
                new RequestQueued("engine-1", 0, 2, "task-9", null, 10L, null, null),
                new IdAliased("task-9", "work:7", "llamacpp-work"));
        assertThat(requests(replayed(gateway)))
                .extracting(RequestAnalysis::requestId)
                .containsExactlyInAnyOrder("mine", "yours");
    }

    @Test
    void aTaskWithoutIdsIsJoinedByItsWorkOnlyWhereOneTaskAndOneRequestDidIt() throws Exception {
        Path gateway = folder.resolve("gateway-log");
        String one = LlamaCppNames.work(42, 55.23, 40, 539.347);
        String twice = LlamaCppNames.work(1, 3.41, 2, 3.52);
        String asked = LlamaCppNames.work(1, 3.41, 3, 7.52);
        append(
                gateway,
                // Of a form without an id in its answer.
                received("gateway", "single"),
                new IdAliased("single", one, LlamaCppNames.ORIGIN),
                queued(1, "log#task-1"),
                new IdAliased("log#task-1", LlamaCppNames.prompt(42, 55.23), LlamaCppNames.ORIGIN),
                new IdAliased("log#task-1", one, LlamaCppNames.ORIGIN),
                // Two tasks, of which one was not asked for through the gateway.
                received("gateway", "which"),
                new IdAliased("which", twice, LlamaCppNames.ORIGIN),
                queued(2, "log#task-2"),
                new IdAliased("log#task-2", twice, LlamaCppNames.ORIGIN),
                queued(3, "log#task-3"),
                new IdAliased("log#task-3", twice, LlamaCppNames.ORIGIN),
                // Two requests, of which the log has lost one's task.
                received("gateway", "left"),
                new IdAliased("left", asked, LlamaCppNames.ORIGIN),
                received("gateway", "right"),
                new IdAliased("right", asked, LlamaCppNames.ORIGIN),
                queued(4, "log#task-4"),
                new IdAliased("log#task-4", asked, LlamaCppNames.ORIGIN));
        assertThat(requests(replayed(gateway)))
                .extracting(RequestAnalysis::requestId)
                .containsExactlyInAnyOrder(
                        "single", "which", "log#task-2", "log#task-3", "left", "right", "log#task-4");
    }

    private static RequestQueued queued(int handle, String task) {
        return new RequestQueued("engine-1", 0, handle, task, null, 10L, null, null);
    }

    @Test
    void whatTwoRequestsOfAGatewayCouldMeanStaysApart() throws Exception {
        Path gateway = folder.resolve("gateway-log");
        append(
                gateway,
                received("gateway", "mine"),
                new IdAliased("mine", "cmpl-1", "stream-id"),
                received("gateway", "yours"),
                new IdAliased("yours", "cmpl-1", "stream-id"),
                received("gateway", "1"));
        assertThat(requests(replayed(gateway)))
                .extracting(RequestAnalysis::requestId)
                .containsExactlyInAnyOrder("mine", "yours", "1");
    }

    private Path replayed(Path events) throws Exception {
        Path archive = folder.resolve("imported");
        assertThat(JobMain.run("archive", "--from", events.toString(), "--archive", archive.toString()))
                .isZero();
        Path out = folder.resolve("out");
        assertThat(JobMain.run("replay", "--archive", archive.toString(), "--out", out.toString()))
                .isZero();
        return out;
    }

    @Test
    void aReplaySaysWhatTheRunningJobSaidAndSoDoesAReplayOfThat() throws Exception {
        Path ran = folder.resolve("ran");
        assertThat(JobMain.run("run", "--once", "--from", log.toString(), "--archive", ran.toString()))
                .isZero();
        Path once = folder.resolve("once");
        assertThat(JobMain.run("replay", "--archive", ran.toString(), "--out", once.toString()))
                .isZero();
        Path twice = folder.resolve("twice");
        assertThat(JobMain.run("replay", "--archive", once.toString(), "--out", twice.toString()))
                .isZero();

        List<RequestAnalysis> said = requests(ran);
        assertThat(said).extracting(RequestAnalysis::requestId).containsExactlyInAnyOrder("chat-1", "task-77");
        assertThat(requests(once)).containsExactlyInAnyOrderElementsOf(said);
        assertThat(requests(twice)).containsExactlyInAnyOrderElementsOf(said);
    }

    private static List<RequestAnalysis> requests(Path archive) throws Exception {
        List<RequestAnalysis> rows = new ArrayList<>();
        for (Path file : ArchiveLayout.files(archive, ResultTables.REQUEST_ANALYSIS.table())) {
            try (TableReader<RequestAnalysis> reader = TableReader.open(ResultTables.REQUEST_ANALYSIS, file)) {
                reader.forEachRemaining(rows::add);
            }
        }
        return rows;
    }
}
