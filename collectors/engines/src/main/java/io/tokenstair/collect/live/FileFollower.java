package io.tokenstair.collect.live;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The lines of a file that grows, as {@code tail -F} reads them: it may come later, be cut to nothing, or be moved away and followed by
 * another of its name, whose lines are read from its start. A line counts when its end has been written; one longer than may be is passed
 * over and told. A file that ends in {@code .gz} is unzipped as far as it has been written. A look takes at most {@value #LOOK_BYTES} bytes,
 * so that a large file is read in several. A file that is cut and has grown past where it was read to before the next look cannot be told
 * from one that only grew. Used by one thread.
 */
public final class FileFollower implements Closeable {
    private static final int LOOK_BYTES = 8 << 20;
    private static final int BUFFER_BYTES = 1 << 16;

    private final Path file;
    private final int mostLineBytes;
    private final Lines lines;
    private final ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES);
    private boolean fromEnd;
    private @Nullable FileChannel channel;
    private @Nullable Object key;
    private @Nullable GrowingGzip zipped;
    private long position;
    private byte[] line = new byte[1_024];
    private int length;
    private boolean tooLong;

    /** Takes lines. */
    public interface Lines {
        /** A whole line without its end; the bytes are used again afterwards. */
        void line(byte[] bytes, int length);

        /** A line, or bytes, that could not be taken: why. */
        void lost(String reason);

        /** What follows is of another file, or of the same one written anew. */
        void restarted();
    }

    /**
     * A follower that has not looked yet.
     *
     * @param fromEnd true to pass over what an existing file holds at the first look
     * @param mostLineBytes longest line that is taken
     */
    public FileFollower(Path file, boolean fromEnd, int mostLineBytes, Lines lines) {
        this.file = file;
        this.fromEnd = fromEnd;
        this.mostLineBytes = mostLineBytes;
        this.lines = lines;
    }

    /** Reads what was written since the last look; true when there may be more at once. */
    public boolean look() {
        try {
            FileChannel open = channel;
            if (open == null) {
                open = open();
                if (open == null) {
                    return false;
                }
            }
            long size = open.size();
            if (size < position) {
                begunAnew("the file was cut inside a line");
                open.position(0);
            }
            if (read(open)) {
                return true;
            }
            BasicFileAttributes now = attributes();
            if (now != null && !Objects.equals(now.fileKey(), key)) {
                // Moved away, and another has its name: what is left in it is its last line.
                if (length > 0) {
                    endOfLine();
                }
                close();
                begunAnew("");
                return true;
            }
            return false;
        } catch (IOException away) {
            close();
            lines.lost("cannot be read: " + away.getClass().getSimpleName());
            begunAnew("");
            return false;
        }
    }

    private @Nullable FileChannel open() throws IOException {
        BasicFileAttributes now = attributes();
        if (now == null) {
            // What comes later is new.
            fromEnd = false;
            return null;
        }
        if (!now.isRegularFile()) {
            return null;
        }
        FileChannel open = FileChannel.open(file, StandardOpenOption.READ);
        channel = open;
        key = now.fileKey();
        zipped = file.toString().endsWith(".gz") ? new GrowingGzip() : null;
        if (fromEnd && zipped == null) {
            position = open.size();
            open.position(position);
            tooLong = position > 0 && !endsALine(open);
        }
        if (fromEnd && zipped != null) {
            // The middle of a zipped file cannot be entered: what is there is read, and not told.
            skip(open);
        }
        fromEnd = false;
        return open;
    }

    private boolean endsALine(FileChannel open) throws IOException {
        ByteBuffer last = ByteBuffer.allocate(1);
        return open.read(last, position - 1) == 1 && last.get(0) == '\n';
    }

    private void skip(FileChannel open) throws IOException {
        GrowingGzip unzip = zipped;
        byte[] out = new byte[BUFFER_BYTES];
        while (unzip != null) {
            buffer.clear();
            int count = open.read(buffer);
            if (count <= 0) {
                return;
            }
            position += count;
            unzip.give(buffer.array(), count);
            for (int more = unzip.take(out); more > 0; more = unzip.take(out)) {
                tooLong = out[more - 1] != '\n';
            }
        }
    }

    private @Nullable BasicFileAttributes attributes() throws IOException {
        try {
            return Files.readAttributes(file, BasicFileAttributes.class);
        } catch (NoSuchFileException notYet) {
            return null;
        }
    }

    /** Reads to the end of what is there; true when it stopped before. */
    private boolean read(FileChannel open) throws IOException {
        GrowingGzip unzip = zipped;
        byte[] out = unzip == null ? new byte[0] : new byte[BUFFER_BYTES];
        int taken = 0;
        while (taken < LOOK_BYTES) {
            buffer.clear();
            int count = open.read(buffer);
            if (count <= 0) {
                return false;
            }
            position += count;
            if (unzip == null) {
                taken += count;
                take(buffer.array(), count);
                continue;
            }
            unzip.give(buffer.array(), count);
            for (int more = unzip.take(out); more > 0; more = unzip.take(out)) {
                taken += more;
                take(out, more);
            }
            String defect = unzip.takeDefect();
            if (defect != null) {
                lines.lost(defect);
            }
        }
        return true;
    }

    private void take(byte[] bytes, int count) {
        for (int i = 0; i < count; i++) {
            byte next = bytes[i];
            if (next == '\n') {
                endOfLine();
            } else if (!tooLong) {
                if (length == mostLineBytes) {
                    tooLong = true;
                    length = 0;
                    lines.lost("a line longer than " + mostLineBytes + " bytes");
                } else {
                    if (length == line.length) {
                        line = Arrays.copyOf(line, Math.min(mostLineBytes, 2 * length));
                    }
                    line[length++] = next;
                }
            }
        }
    }

    private void endOfLine() {
        int end = length > 0 && line[length - 1] == '\r' ? length - 1 : length;
        if (!tooLong && end > 0) {
            lines.line(line, end);
        }
        length = 0;
        tooLong = false;
        if (line.length > 1 << 20) {
            line = new byte[1_024];
        }
    }

    private void begunAnew(String cut) {
        if (length > 0 && !cut.isEmpty()) {
            lines.lost(cut);
        }
        length = 0;
        tooLong = false;
        position = 0;
        zipped = zipped == null ? null : new GrowingGzip();
        lines.restarted();
    }

    @Override
    public void close() {
        FileChannel open = channel;
        channel = null;
        key = null;
        if (open != null) {
            try {
                open.close();
            } catch (IOException gone) {
                lines.lost("cannot be closed: " + gone.getClass().getSimpleName());
            }
        }
    }
}
