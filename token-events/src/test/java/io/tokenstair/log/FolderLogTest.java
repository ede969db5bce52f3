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
import java.util.Random;
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
    void aDamagedByteOfARecordCostsThatRecordWhichComesWithoutBytes() throws IOException {
        Path partition = write(9, 3 * (FRAME_HEAD_BYTES + 8));
        Path middle = segments(partition).get(1);
        byte[] whole = Files.readAllBytes(middle);
        for (int at = 0; at < whole.length; at++) {
            for (int bits : new int[] {0x01, 0x10, 0x80}) {
                byte[] damaged = whole.clone();
                damaged[at] ^= (byte) bits;
                Files.write(middle, damaged);
                List<String> expected = new ArrayList<>(records(0, 9));
                expected.set(3 + at / (FRAME_HEAD_BYTES + 8), "");
                assertThat(read(partition, 0)).as("byte %d", at).isEqualTo(expected);
                for (int start = 0; start <= 9; start++) {
                    assertThat(read(partition, start)).isEqualTo(expected.subList(start, 9));
                }
            }
        }
    }

    @Test
    void randomBytesAreTold() throws IOException {
        for (int seed = 0; seed < 200; seed++) {
            Path log = folder.resolve("log-" + seed);
            Path partition = Files.createDirectories(log.resolve("partition-0000"));
            byte[] random = new byte[1 + new Random(seed).nextInt(4_000)];
            new Random(seed + 1_000L).nextBytes(random);
            Files.write(partition.resolve("segment-0000000000.log"), random);
            assertThat(rest(partition)).as("random bytes of seed %d", seed).containsExactly("");
            assertThat(FolderLogReader.endOrdinal(partition)).isEqualTo(1);
        }
    }

    @Test
    void whatIsAppendedBehindDamageIsRead() throws IOException {
        Path log = folder.resolve("log");
        Path partition = log.resolve("partition-0000");
        try (FolderLogWriter writer = new FolderLogWriter(log, 0);
                FolderLogReader reader = new FolderLogReader(partition, 0)) {
            writer.append(bytes(0));
            writer.flush();
            assertThat(drain(reader)).containsExactly("record 0");
            Path segment = segments(partition).get(0);
            Files.write(segment, new byte[] {-1, -1, -1, -1, 5, 5, 5, 5, 5}, StandardOpenOption.APPEND);
            assertThat(drain(reader)).containsExactly("");
            assertThat(reader.next()).isNull();
            try (FolderLogWriter other = new FolderLogWriter(folder.resolve("other"), 0)) {
                other.append(bytes(2));
                other.append(bytes(3));
            }
            byte[] more = Files.readAllBytes(folder.resolve("other/partition-0000/segment-0000000000.log"));
            Files.write(segment, Arrays.copyOf(more, 7), StandardOpenOption.APPEND);
            assertThat(reader.next()).isNull();
            Files.write(segment, Arrays.copyOfRange(more, 7, more.length), StandardOpenOption.APPEND);
            assertThat(drain(reader)).containsExactly("record 2", "record 3");
            assertThat(reader.position()).isEqualTo(4);
        }
        assertThat(read(partition, 2)).containsExactly("record 2", "record 3");
    }

    @Test
    void aSegmentThatIsGoneOrCutIsTold() throws IOException {
        Path partition = write(9, 3 * (FRAME_HEAD_BYTES + 8));
        Path middle = segments(partition).get(1);
        byte[] whole = Files.readAllBytes(middle);
        List<String> rest = records(6, 9);
        for (int length = 0; length < whole.length; length++) {
            Files.write(middle, Arrays.copyOf(whole, length));
            int left = length / (FRAME_HEAD_BYTES + 8);
            List<String> expected = new ArrayList<>(records(0, 3 + left));
            expected.add("");
            expected.addAll(rest);
            assertThat(read(partition, 0)).as("cut at byte %d", length).isEqualTo(expected);
        }
        Files.delete(middle);
        List<String> expected = new ArrayList<>(records(0, 3));
        expected.add("");
        expected.addAll(rest);
        assertThat(read(partition, 0)).isEqualTo(expected);
        try (FolderLogReader reader = new FolderLogReader(partition, 4)) {
            assertThat(drain(reader)).isEqualTo(rest);
            assertThat(reader.position()).isEqualTo(9);
        }
    }

    @Test
    void whatIsTornIsToldWhereNobodyWritesAnyMore() throws IOException {
        Path partition = write(4, FolderLogWriter.SEGMENT_BYTES);
        Path segment = segments(partition).get(0);
        byte[] whole = Files.readAllBytes(segment);
        for (int length = 0; length <= whole.length; length++) {
            Files.write(segment, Arrays.copyOf(whole, length));
            int left = length / (FRAME_HEAD_BYTES + 8);
            List<String> expected = new ArrayList<>(records(0, left));
            if (length % (FRAME_HEAD_BYTES + 8) != 0) {
                expected.add("");
            }
            assertThat(rest(partition)).as("cut at byte %d", length).isEqualTo(expected);
        }
    }

    private static List<String> rest(Path partition) throws IOException {
        List<String> records = new ArrayList<>();
        try (FolderLogReader reader = new FolderLogReader(partition, 0)) {
            for (byte[] record = reader.rest(); record != null; record = reader.rest()) {
                records.add(new String(record, StandardCharsets.UTF_8));
            }
        }
        return records;
    }

    private static List<String> records(int from, int to) {
        return IntStream.range(from, to).mapToObj(record -> "record " + record).toList();
    }

    @Test
    void aHugeLengthIsDamage() throws IOException {
        Path partition = write(1, FolderLogWriter.SEGMENT_BYTES);
        Files.write(
                segments(partition).get(0),
                new byte[] {0x7F, -1, -1, -1, 0, 0, 0, 0, 1, 2, 3},
                StandardOpenOption.APPEND);

        assertThat(read(partition, 0)).containsExactly("record 0", "");
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
