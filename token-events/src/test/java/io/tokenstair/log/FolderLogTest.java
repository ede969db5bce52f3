package io.tokenstair.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FolderLogTest {
    private static final int FRAME_HEAD_BYTES = 8;

    @TempDir
    Path folder;

    @Test
    void recordsComeBackInOrder() throws IOException {
        Path partition = write(3, FolderLogWriter.SEGMENT_BYTES);

        assertThat(read(partition, 0)).containsExactly("record 0", "record 1", "record 2");
    }

    @Test
    void segmentsAreReadThroughAndNamedByTheirFirstRecord() throws IOException {
        Path partition = write(10, 3 * (FRAME_HEAD_BYTES + 8));

        assertThat(segments(partition))
                .extracting(segment -> segment.getFileName().toString())
                .containsExactly(
                        "segment-0000000000.log",
                        "segment-0000000003.log",
                        "segment-0000000006.log",
                        "segment-0000000009.log");
        assertThat(read(partition, 0)).hasSize(10).startsWith("record 0").endsWith("record 9");
    }

    @Test
    void readingGoesOnFromAnyPosition() throws IOException {
        Path partition = write(10, 3 * (FRAME_HEAD_BYTES + 8));
        for (int start = 0; start <= 10; start++) {
            try (FolderLogReader reader = new FolderLogReader(partition, start)) {
                assertThat(reader.position()).isEqualTo(start);
                assertThat(drain(reader)).hasSize(10 - start);
                assertThat(reader.position()).isEqualTo(10);
            }
        }
    }

    @Test
    void aPositionOutsideTheLogIsRefused() throws IOException {
        Path partition = write(10, 3 * (FRAME_HEAD_BYTES + 8));

        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> new FolderLogReader(partition, 11))
                .withMessage(partition + ": the log ends at record 10, before record 11; give the log this position was"
                        + " taken from");
        Files.delete(segments(partition).get(0));
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> new FolderLogReader(partition, 2))
                .withMessage(partition + ": the log begins at record 3, after record 2; give the log this position was"
                        + " taken from");
        assertThatIllegalArgumentException().isThrownBy(() -> new FolderLogReader(partition, -1));
    }

    @Test
    void aTornEndCostsTheTornRecordOnlyWhereverItIsCut() throws IOException {
        Path partition = write(4, FolderLogWriter.SEGMENT_BYTES);
        Path segment = segments(partition).get(0);
        byte[] whole = Files.readAllBytes(segment);
        for (int length = 0; length <= whole.length; length++) {
            Files.write(segment, Arrays.copyOf(whole, length));
            assertThat(read(partition, 0)).as("cut at byte %d", length).hasSize(length / (FRAME_HEAD_BYTES + 8));
        }
    }

    @Test
    void zeroBytesAfterTheEndAreNoRecords() throws IOException {
        Path partition = write(2, FolderLogWriter.SEGMENT_BYTES);
        Files.write(segments(partition).get(0), new byte[64], StandardOpenOption.APPEND);

        assertThat(read(partition, 0)).containsExactly("record 0", "record 1");
    }

    @Test
    void aDamagedRecordInTheMiddleComesWithoutBytesAndTheLogGoesOn() throws IOException {
        Path partition = write(9, 3 * (FRAME_HEAD_BYTES + 8));
        Path middle = segments(partition).get(1);
        byte[] whole = Files.readAllBytes(middle);
        for (int at = 0; at < whole.length; at++) {
            if (at % (FRAME_HEAD_BYTES + 8) < 4) {
                continue;
            }
            Files.write(middle, flipped(whole, at));
            int damaged = 3 + at / (FRAME_HEAD_BYTES + 8);
            List<String> read = read(partition, 0);
            assertThat(read).as("byte %d", at).hasSize(9);
            for (int record = 0; record < 9; record++) {
                assertThat(read.get(record)).isEqualTo(record == damaged ? "" : "record " + record);
            }
        }
    }

    @Test
    void aDamagedLengthCostsWhatIsBehindItAndNothingBefore() throws IOException {
        Path partition = write(9, 3 * (FRAME_HEAD_BYTES + 8));
        Path middle = segments(partition).get(1);
        byte[] whole = Files.readAllBytes(middle);
        for (int at = 0; at < whole.length; at++) {
            if (at % (FRAME_HEAD_BYTES + 8) >= 4) {
                continue;
            }
            Files.write(middle, flipped(whole, at));
            int damaged = 3 + at / (FRAME_HEAD_BYTES + 8);
            List<String> read = read(partition, 0);
            assertThat(read).as("byte %d", at).hasSizeGreaterThanOrEqualTo(damaged);
            assertThat(read.subList(0, damaged)).isEqualTo(records(0, damaged));
            assertThat(behind(read, damaged)).isSorted().doesNotHaveDuplicates();
        }
    }

    private static List<String> records(int from, int to) {
        return IntStream.range(from, to).mapToObj(record -> "record " + record).toList();
    }

    private static List<String> behind(List<String> read, int from) {
        return read.subList(from, read.size()).stream()
                .filter(record -> record.startsWith("record "))
                .toList();
    }

    private static byte[] flipped(byte[] whole, int at) {
        byte[] damaged = whole.clone();
        damaged[at] ^= 0x10;
        return damaged;
    }

    @Test
    void aHugeLengthIsATornFrame() throws IOException {
        Path partition = write(1, FolderLogWriter.SEGMENT_BYTES);
        Files.write(
                segments(partition).get(0),
                new byte[] {0x7F, -1, -1, -1, 0, 0, 0, 0, 1, 2, 3},
                StandardOpenOption.APPEND);

        assertThat(read(partition, 0)).containsExactly("record 0");
    }

    @Test
    void aReaderAtTheEndGoesOnWhenMoreIsAppended() throws IOException {
        try (FolderLogWriter writer = new FolderLogWriter(folder.resolve("log"), 0, 40)) {
            Path partition = folder.resolve("log/partition-0000");
            try (FolderLogReader reader = new FolderLogReader(partition, 0)) {
                assertThat(reader.next()).isNull();
                int read = 0;
                for (int i = 0; i < 20; i++) {
                    assertThat(writer.append(bytes(i))).isEqualTo(i);
                    if (i % 3 == 0) {
                        writer.flush();
                        read += drain(reader).size();
                        assertThat(read).isEqualTo(i + 1);
                    }
                }
                writer.flush();
                assertThat(drain(reader)).containsExactly("record 19");
                assertThat(reader.position()).isEqualTo(20);
            }
        }
    }

    @Test
    void aHalfWrittenFrameIsReadOnceItIsWhole() throws IOException {
        Path partition = write(2, FolderLogWriter.SEGMENT_BYTES);
        Path segment = segments(partition).get(0);
        byte[] whole = Files.readAllBytes(segment);
        Files.write(segment, Arrays.copyOf(whole, whole.length - 3));
        try (FolderLogReader reader = new FolderLogReader(partition, 0)) {
            assertThat(drain(reader)).containsExactly("record 0");
            assertThat(reader.next()).isNull();
            Files.write(segment, whole);
            assertThat(drain(reader)).containsExactly("record 1");
        }
    }

    @Test
    void recordsThatNoReaderTakesAreRefused() throws IOException {
        try (FolderLogWriter writer = new FolderLogWriter(folder.resolve("log"), 0)) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> writer.append(new byte[0]))
                    .withMessage("Cannot append a record of this many bytes: 0");
            byte[] tooLong = new byte[FolderLogReader.MAX_RECORD_BYTES + 1];
            assertThatIllegalArgumentException().isThrownBy(() -> writer.append(tooLong));
        }
    }

    @Test
    void aPartitionIsNeverWrittenOver() throws IOException {
        write(1, FolderLogWriter.SEGMENT_BYTES);

        assertThatExceptionOfType(FileAlreadyExistsException.class)
                .isThrownBy(() -> new FolderLogWriter(folder.resolve("log"), 0));
    }

    @Test
    void partitionsAreListedInOrder() throws IOException {
        Path log = folder.resolve("log");
        for (int index : new int[] {2, 0, 1}) {
            new FolderLogWriter(log, index).close();
        }
        Files.createDirectory(log.resolve("other"));

        assertThat(FolderLogReader.partitions(log))
                .extracting(partition -> partition.getFileName().toString())
                .containsExactly("partition-0000", "partition-0001", "partition-0002");
    }

    private Path write(int records, long segmentBytes) throws IOException {
        try (FolderLogWriter writer = new FolderLogWriter(folder.resolve("log"), 0, segmentBytes)) {
            for (int i = 0; i < records; i++) {
                writer.append(bytes(i));
            }
        }
        return folder.resolve("log/partition-0000");
    }

    private static byte[] bytes(int index) {
        return ("record " + index).getBytes(StandardCharsets.UTF_8);
    }

    private static List<String> read(Path partition, long start) throws IOException {
        try (FolderLogReader reader = new FolderLogReader(partition, start)) {
            return drain(reader);
        }
    }

    private static List<String> drain(FolderLogReader reader) throws IOException {
        List<String> records = new ArrayList<>();
        for (byte[] record = reader.next(); record != null; record = reader.next()) {
            records.add(new String(record, StandardCharsets.UTF_8));
        }
        return records;
    }

    private static List<Path> segments(Path partition) throws IOException {
        try (Stream<Path> entries = Files.list(partition)) {
            return entries.sorted().toList();
        }
    }
}
