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
 * A file that grows, as {@code tail -F} reads it: it may come later, be cut to nothing, or be moved away and followed by
 * another of its name, which is read from its start. What was read is cut into lines, or as the {@link Cutter} does. A file that ends in
 * {@code .gz} is unzipped as far as it has been written. A look takes at most {@value #LOOK_BYTES} bytes,
 * so that a large file is read in several. A file that was written anew and has grown past where it was read to is told from one that only grew by
 * the {@value #TAIL_BYTES} bytes before that place. Used by one thread.
 */
public final class FileFollower implements Closeable {
    private static final int LOOK_BYTES = 8 << 20;
    private static final int BUFFER_BYTES = 1 << 16;
    private static final int TAIL_BYTES = 64;

    private final Path file;
    private final Cutter cutter;
    private final ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES);
    private boolean fromEnd;
    private @Nullable FileChannel channel;
    private @Nullable Object key;
    private @Nullable GrowingGzip zipped;
    private long position;
    private byte[] tail = new byte[0];

    /** Takes lines. */
    public interface Lines {
        /** A whole line without its end; the bytes are used again afterwards. */
        void line(byte[] bytes, int length);

        /** A line, or bytes, that could not be taken: why. */
        void lost(String reason);

        /** What follows is of another file, or of the same one written anew. */
        void restarted();
    }

    /** Takes what is read and cuts it into pieces. */
    public interface Cutter {
        /** More of the file; the bytes are used again afterwards. */
        void take(byte[] bytes, int count);

        /** Bytes were passed over; this is the last of them. */
        void passedOver(byte last);

        /** The file was moved away: what is left is its last piece. */
        void ended();

        /** The file is written anew, or another has its name: what is half is lost for this reason, and for none where it is empty. */
        void begunAnew(String reason);

        /** Bytes that could not be read: why. */
        void lost(String reason);

        /** Nothing more of the file is read. */
        void letGo();
    }

    /**
     * A follower of lines that has not looked yet. A line counts when its end has been written; one longer than may be is passed over and told.
     *
     * @param fromEnd true to pass over what an existing file holds at the first look
     * @param mostLineBytes longest line that is taken
     */
    public FileFollower(Path file, boolean fromEnd, int mostLineBytes, Lines lines) {
        this(file, fromEnd, new LineCutter(mostLineBytes, lines));
    }

    /**
     * A follower that has not looked yet.
     *
     * @param fromEnd true to pass over what an existing file holds at the first look
     */
    public FileFollower(Path file, boolean fromEnd, Cutter cutter) {
        this.file = file;
        this.fromEnd = fromEnd;
        this.cutter = cutter;
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
            if (size < position || !isWhatWasRead(open)) {
                begunAnew("the file was cut inside a line");
                open.position(0);
            }
            if (read(open)) {
                return true;
            }
            BasicFileAttributes now = attributes();
            if (now != null && !Objects.equals(now.fileKey(), key)) {
                // Moved away, and another has its name.
                cutter.ended();
                close();
                begunAnew("");
                return true;
            }
            return false;
        } catch (IOException away) {
            close();
            cutter.lost("cannot be read: " + away.getClass().getSimpleName());
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
            tail = before(open, (int) Math.min(position, TAIL_BYTES));
            if (tail.length > 0) {
                cutter.passedOver(tail[tail.length - 1]);
            }
        }
        if (fromEnd && zipped != null) {
            // The middle of a zipped file cannot be entered: what is there is read, and not told.
            skip(open);
        }
        fromEnd = false;
        return open;
    }

    /** The bytes that stand before where it is read next; fewer when it was cut meanwhile. */
    private byte[] before(FileChannel open, int count) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(count);
        while (bytes.hasRemaining() && open.read(bytes, position - count + bytes.position()) > 0) {
            // A read may give less than is there.
        }
        return Arrays.copyOf(bytes.array(), bytes.position());
    }

    private boolean isWhatWasRead(FileChannel open) throws IOException {
        return tail.length == 0 || Arrays.equals(before(open, tail.length), tail);
    }

    /** Remembers the last of what was read, as it stands in the file. */
    private void remember(byte[] bytes, int count) {
        byte[] last = Arrays.copyOfRange(bytes, Math.max(0, count - TAIL_BYTES), count);
        if (last.length < TAIL_BYTES) {
            byte[] both = Arrays.copyOf(tail, tail.length + last.length);
            System.arraycopy(last, 0, both, tail.length, last.length);
            last = Arrays.copyOfRange(both, Math.max(0, both.length - TAIL_BYTES), both.length);
        }
        tail = last;
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
            remember(buffer.array(), count);
            unzip.give(buffer.array(), count);
            for (int more = unzip.take(out); more > 0; more = unzip.take(out)) {
                cutter.passedOver(out[more - 1]);
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
            remember(buffer.array(), count);
            if (unzip == null) {
                taken += count;
                cutter.take(buffer.array(), count);
                continue;
            }
            unzip.give(buffer.array(), count);
            for (int more = unzip.take(out); more > 0; more = unzip.take(out)) {
                taken += more;
                cutter.take(out, more);
            }
            String defect = unzip.takeDefect();
            if (defect != null) {
                cutter.lost(defect);
            }
        }
        return true;
    }

    private void begunAnew(String cut) {
        position = 0;
        tail = new byte[0];
        zipped = zipped == null ? null : new GrowingGzip();
        cutter.begunAnew(cut);
    }

    /** Closes it for good. */
    void letGo() {
        close();
        cutter.letGo();
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
                cutter.lost("cannot be closed: " + gone.getClass().getSimpleName());
            }
        }
    }
}
