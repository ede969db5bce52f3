package io.tokenstair.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Many short-lived writers of one folder log. */
class FolderLogAppenderTest {
    @TempDir
    Path folder;

    private static byte[] bytes(String record) {
        return record.getBytes(StandardCharsets.UTF_8);
    }

    private Path log() {
        return folder.resolve("log");
    }

    private void append(String... records) throws IOException {
        FolderLogAppender.append(
                log(),
                List.of(records).stream().map(FolderLogAppenderTest::bytes).toList());
    }

    private static List<String> drain(FolderLogReader reader) throws IOException {
        List<String> records = new ArrayList<>();
        for (byte[] record = reader.next(); record != null; record = reader.next()) {
            records.add(new String(record, StandardCharsets.UTF_8));
        }
        return records;
    }

    private List<String> read(int partition) throws IOException {
        try (FolderLogReader reader = new FolderLogReader(FolderLogWriter.partition(log(), partition), 0)) {
            return drain(reader);
        }
    }

    @Test
    void everyAppendGoesOnWithTheSamePartitionAndAReaderThatWaitsSeesIt() throws Exception {
        append("a", "b");
        try (FolderLogReader reader = new FolderLogReader(FolderLogWriter.partition(log(), 0), 0)) {
            assertThat(drain(reader)).containsExactly("a", "b");
            append("c");
            append("d", "e");
            assertThat(drain(reader)).containsExactly("c", "d", "e");
            assertThat(reader.position()).isEqualTo(5);
        }
        assertThat(FolderLogReader.partitions(log())).hasSize(1);
        assertThat(read(0)).containsExactly("a", "b", "c", "d", "e");
    }

    @Test
    void aPartitionOfAnotherWriterIsNeverContinued() throws Exception {
        try (FolderLogWriter other = new FolderLogWriter(log(), 0)) {
            other.append(bytes("other"));
            append("a");
            append("b");
            other.append(bytes("still other"));
        }

        assertThat(FolderLogReader.partitions(log())).hasSize(2);
        assertThat(read(0)).containsExactly("other", "still other");
        assertThat(read(1)).containsExactly("a", "b");
    }

    @Test
    void whatAWriterLeftUnfinishedIsNotSeenAndDoesNotHinderTheNext() throws Exception {
        append("a");
        Files.write(FolderLogWriter.partition(log(), 0).resolve("unfinished"), new byte[] {0, 0, 0});
        assertThat(read(0)).containsExactly("a");

        append("b");

        assertThat(read(0)).containsExactly("a", "b");
    }

    @Test
    void aSegmentThatWasDamagedIsToldAtOnceAndTheNextGoesOnBehindIt() throws Exception {
        append("a", "b");
        Path segment = FolderLogWriter.partition(log(), 0).resolve("segment-0000000000.log");
        byte[] whole = Files.readAllBytes(segment);
        Files.write(segment, Arrays.copyOf(whole, whole.length - 1));
        try (FolderLogReader reader = new FolderLogReader(FolderLogWriter.partition(log(), 0), 0)) {
            assertThat(drain(reader)).containsExactly("a", "");
            append("c");
            assertThat(drain(reader)).containsExactly("c");
            assertThat(reader.position()).isEqualTo(3);
        }
        assertThat(read(0)).containsExactly("a", "", "c");
    }

    @Test
    void aRecordThatNoReaderTakesIsRefusedAndNothingOfItsCompanyWritten() throws Exception {
        append("a");

        assertThatIllegalArgumentException().isThrownBy(() -> append("b", ""));

        assertThat(read(0)).containsExactly("a");
    }

    @Test
    void manyAtOnceLoseNothingAndKeepTheOrderOfEach() throws Exception {
        ExecutorService writers = Executors.newFixedThreadPool(4);
        try {
            List<Future<?>> done = new ArrayList<>();
            for (int writer = 0; writer < 4; writer++) {
                String name = "w" + writer;
                done.add(writers.submit(() -> {
                    for (int i = 0; i < 20; i++) {
                        append(name + " " + i);
                    }
                    return null;
                }));
            }
            for (Future<?> each : done) {
                each.get();
            }
        } finally {
            writers.shutdown();
        }
        List<String> records = read(0);
        assertThat(records).hasSize(80).doesNotHaveDuplicates();
        for (int writer = 0; writer < 4; writer++) {
            String name = "w" + writer + " ";
            List<String> own = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                own.add(name + i);
            }
            assertThat(records.stream().filter(record -> record.startsWith(name)))
                    .containsExactlyElementsOf(own);
        }
    }
}
