package io.tokenstair.log;

import io.tokenstair.clock.ElapsedClock;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * A folder log as an outlet's place: one partition of its own for each start. A frame that a full disk cut short is completed where it
 * stands once there is room, so that a reader, who waits at such a frame, goes on as if nothing had been.
 */
final class FolderPlace implements LogPlace {
    private static final int BUFFER_BYTES = 256 << 10;
    private static final int FRAME_HEAD_BYTES = 8;
    private static final long LOOK_NANOS = 1_000_000_000L;

    private final Path log;
    private final Outcome outcome;
    private final SegmentOpener opener;

    private @Nullable Path partition;
    private @Nullable Path segment;
    private @Nullable WritableByteChannel channel;
    private long segmentBytes;
    private long ordinal;
    private long lookedAtNanos;

    private ByteBuffer frames = ByteBuffer.allocate(BUFFER_BYTES);
    private final Deque<Framed> framed = new ArrayDeque<>();
    private int writtenBytes;

    /** A record in the buffer, and where its frame lies there. */
    private record Framed(OutletRecord record, int startBytes, int endBytes) {}

    /** Opens a new segment file. */
    interface SegmentOpener {
        /** A channel that writes at the end of the file. */
        WritableByteChannel open(Path segment) throws IOException;
    }

    FolderPlace(Path log, Outcome outcome) {
        this(
                log,
                outcome,
                segment -> FileChannel.open(segment, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE));
    }

    FolderPlace(Path log, Outcome outcome, SegmentOpener opener) {
        this.log = log;
        this.outcome = outcome;
        this.opener = opener;
    }

    @Override
    public boolean take(OutletRecord record, byte[] bytes) throws IOException {
        int needed = FRAME_HEAD_BYTES + bytes.length;
        if (frames.remaining() < needed) {
            flush();
        }
        if (frames.capacity() < needed) {
            frames = ByteBuffer.allocate(needed);
        }
        int start = frames.position();
        frames.putInt(bytes.length)
                .putInt(FolderLogWriter.checksum(ByteBuffer.wrap(bytes)))
                .put(bytes);
        framed.add(new Framed(record, start, frames.position()));
        return true;
    }

    @Override
    public void flush() throws IOException {
        if (framed.isEmpty()) {
            return;
        }
        WritableByteChannel out = open();
        ByteBuffer rest = frames.duplicate().flip().position(writtenBytes);
        try {
            while (rest.hasRemaining()) {
                out.write(rest);
            }
        } finally {
            segmentBytes += rest.position() - writtenBytes;
            writtenBytes = rest.position();
            while (!framed.isEmpty() && framed.element().endBytes() <= writtenBytes) {
                ordinal++;
                outcome.kept(framed.remove().record());
            }
        }
        frames = frames.capacity() > BUFFER_BYTES ? ByteBuffer.allocate(BUFFER_BYTES) : frames.clear();
        writtenBytes = 0;
    }

    /** The channel to write to: of the segment that is open, of the next one, or of a new partition where this one was taken away. */
    private WritableByteChannel open() throws IOException {
        boolean betweenFrames = isBetweenFrames();
        long now = ElapsedClock.system().elapsedNanos();
        if (segment != null && now - lookedAtNanos > LOOK_NANOS) {
            lookedAtNanos = now;
            if (Files.notExists(segment)) {
                closeChannel();
                // What the buffer holds goes to the new partition as a whole frame.
                writtenBytes = frameStart();
                partition = null;
                segment = null;
            }
        }
        if (channel != null && betweenFrames && segmentBytes >= FolderLogWriter.SEGMENT_BYTES) {
            closeChannel();
        }
        if (channel == null) {
            if (partition == null) {
                Files.createDirectories(log);
                partition = FolderLogWriter.newPartition(log);
                ordinal = 0;
            }
            segment = FolderLogWriter.segment(partition, ordinal);
            try {
                channel = opener.open(segment);
            } catch (NoSuchFileException takenAway) {
                partition = null;
                throw takenAway;
            }
            segmentBytes = 0;
            lookedAtNanos = now;
        }
        return channel;
    }

    private boolean isBetweenFrames() {
        return writtenBytes == frameStart();
    }

    /** Where the frame begins in the buffer that was not written to its end. */
    private int frameStart() {
        return framed.isEmpty() ? writtenBytes : framed.element().startBytes();
    }

    private void closeChannel() throws IOException {
        if (channel != null) {
            WritableByteChannel open = channel;
            channel = null;
            open.close();
        }
    }

    @Override
    public void close(Duration wait) {
        try {
            flush();
        } catch (IOException full) {
            framed.forEach(left -> outcome.lost(left.record(), "closed"));
            framed.clear();
        }
        try {
            closeChannel();
        } catch (IOException alreadyWritten) {
            // All that was taken over had been handed to the operating system.
            channel = null;
        }
    }
}
