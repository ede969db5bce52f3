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
        List<Event> events = List.of(
                new RequestReceived("client", "chat-1", null, null, null, null, null, 10L, null, null, false),
                new RequestQueued("engine-0", 0, 1, "task-77", null, 10L, null, null),
                new RequestCompleted("client", "chat-1", "complete", 200, null, 0L, 0L, null, null),
                new IdAliased("chat-1", "task-77", "response"));
        List<byte[]> records = new ArrayList<>();
        for (int i = 0; i < events.size(); i++) {
            long nanos = 1_000_000L * (i + 1);
            records.add(EventCodec.encode(new LoggedEvent(
                    new EventHeader("collector-0", 1, i, "host/monotonic", nanos, EPOCH_MILLIS + i), events.get(i))));
        }
        FolderLogAppender.append(log, records);
    }

    @Test
    void namesOfAnImportAreJoined() throws Exception {
        Path archive = folder.resolve("imported");
        assertThat(JobMain.run("archive", "--from", log.toString(), "--archive", archive.toString()))
                .isZero();
        Path out = folder.resolve("out");
        assertThat(JobMain.run("replay", "--archive", archive.toString(), "--out", out.toString()))
                .isZero();

        assertThat(requests(out)).extracting(RequestAnalysis::requestId).containsExactly("chat-1");
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
