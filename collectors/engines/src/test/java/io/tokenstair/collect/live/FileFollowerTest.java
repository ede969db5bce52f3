package io.tokenstair.collect.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileFollowerTest {
    @TempDir
    Path folder;

    private Path file = Path.of("");
    private final List<String> told = new ArrayList<>();

    @BeforeEach
    void name() {
        file = folder.resolve("a.log");
    }

    private FileFollower follower(Path of, boolean fromEnd, int mostBytes) {
        return new FileFollower(of, fromEnd, mostBytes, new FileFollower.Lines() {
            @Override
            public void line(byte[] bytes, int length) {
                told.add(new String(bytes, 0, length, StandardCharsets.ISO_8859_1));
            }

            @Override
            public void lost(String reason) {
                told.add("lost: " + reason);
            }

            @Override
            public void restarted() {
                told.add("restarted");
            }
        });
    }

    private void append(String text) throws IOException {
        Files.writeString(file, text, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    private static void look(FileFollower follower) {
        boolean more = true;
        while (more) {
            more = follower.look();
        }
    }

    @Test
    void aLineCountsWhenItsEndIsWritten() throws Exception {
        FileFollower follower = follower(file, true, 100);
        look(follower);
        append("one\ntw");
        look(follower);
        append("o\r\n\nthree");
        look(follower);
        assertThat(told).containsExactly("one", "two");
        append("\n");
        look(follower);
        assertThat(told).containsExactly("one", "two", "three");
        follower.close();
    }

    @Test
    void fromTheEndTheRestOfAHalfLineIsNoLine() throws Exception {
        append("old\nhalf");
        FileFollower follower = follower(file, true, 100);
        look(follower);
        append(" line\nnew\n");
        look(follower);
        assertThat(told).containsExactly("new");
        follower.close();
    }

    @Test
    void aFileMovedAwayIsReadToItsEndAndTheNextFromItsStart() throws Exception {
        FileFollower follower = follower(file, false, 100);
        append("one\n");
        look(follower);
        append("two\nlast");
        Files.move(file, folder.resolve("a.log.1"));
        append("three\n");
        look(follower);
        assertThat(told).containsExactly("one", "two", "last", "restarted", "three");
        follower.close();
    }

    @Test
    void aFileThatIsCutBeginsAgain() throws Exception {
        FileFollower follower = follower(file, false, 100);
        append("one\ntwo\nha");
        look(follower);
        Files.writeString(file, "new\n");
        look(follower);
        assertThat(told).containsExactly("one", "two", "lost: the file was cut inside a line", "restarted", "new");
        follower.close();
    }

    @Test
    void aLineLongerThanMayBeIsPassedOverAndToldOnce() throws Exception {
        FileFollower follower = follower(file, false, 10);
        append("0123456789\n" + "x".repeat(1_000_000));
        look(follower);
        append("y\nshort\n");
        look(follower);
        assertThat(told).containsExactly("0123456789", "lost: a line longer than 10 bytes", "short");
        follower.close();
    }

    @Test
    void aZippedFileIsReadAsFarAsItIsWrittenWhateverThePieces() throws Exception {
        byte[] two = Arrays.copyOf(zipped("one\ntwo\n"), 200);
        int first = zipped("one\ntwo\n").length;
        byte[] more = zipped("three\n");
        System.arraycopy(more, 0, two, first, more.length);
        Path zipped = folder.resolve("a.log.gz");
        FileFollower follower = follower(zipped, false, 100);
        SplittableRandom random = new SplittableRandom(3);
        for (int at = 0; at < first + more.length; ) {
            int end = Math.min(first + more.length, at + 1 + random.nextInt(5));
            Files.write(zipped, Arrays.copyOfRange(two, at, end), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            look(follower);
            at = end;
        }
        assertThat(told).containsExactly("one", "two", "three");
        Files.write(zipped, "garbage after it".getBytes(StandardCharsets.UTF_8), StandardOpenOption.APPEND);
        look(follower);
        assertThat(told).hasSize(4).last().asString().startsWith("lost: no gzip");
        follower.close();
    }

    private static byte[] zipped(String text) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(bytes)) {
            out.write(text.getBytes(StandardCharsets.UTF_8));
        }
        return bytes.toByteArray();
    }

    @Test
    void mutatedZippedFilesEndInABoundedReading() throws Exception {
        byte[] real = zipped("{\"a\":1}\n".repeat(300));
        SplittableRandom random = new SplittableRandom(17);
        byte[] out = new byte[64];
        long taken = 0;
        for (int i = 0; i < 10_000; i++) {
            byte[] changed = real.clone();
            for (int j = random.nextInt(4); j >= 0; j--) {
                changed[random.nextInt(changed.length)] = (byte) random.nextInt(256);
            }
            GrowingGzip unzip = new GrowingGzip();
            int cut = random.nextInt(changed.length + 1);
            for (byte[] part :
                    new byte[][] {Arrays.copyOf(changed, cut), Arrays.copyOfRange(changed, cut, changed.length)}) {
                unzip.give(part, part.length);
                int most = 0;
                for (int count = unzip.take(out); count > 0; count = unzip.take(out)) {
                    assertThat(most++).isLessThan(1_100 * real.length / out.length);
                    taken += count;
                }
            }
            unzip.takeDefect();
        }
        assertThat(taken).isPositive();
    }

    @Test
    void aFileThatWasWrittenAnewAndIsLongerIsToldFromOneThatGrew() throws Exception {
        append("one\n");
        FileFollower follower = follower(file, false, 100);
        look(follower);
        Files.writeString(file, "a longer one\nand more\n");
        look(follower);
        append("grown\n");
        look(follower);
        assertThat(told).containsExactly("one", "restarted", "a longer one", "and more", "grown");
        follower.close();
    }

    @Test
    void numbersInNamesAreInTheirOrder() {
        List<String> names =
                new ArrayList<>(List.of("t.10", "t.9", "t.010", "t.1", "t", "t.100", "s.200", "t.9.b", "t.9.a"));
        names.sort(FollowedFiles::compareNames);
        assertThat(names).containsExactly("s.200", "t", "t.1", "t.9", "t.9.a", "t.9.b", "t.010", "t.10", "t.100");
    }
}
