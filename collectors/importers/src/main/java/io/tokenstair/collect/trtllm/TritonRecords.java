package io.tokenstair.collect.trtllm;

import io.tokenstair.collect.engine.trtllm.TritonRecordCutter;
import io.tokenstair.collect.input.LineSource;
import io.tokenstair.collect.input.UnzippedFile;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** The records of a trace file of Triton, one after another. A record longer than {@link LineSource.Limits#lineBytes()} is passed over and reported. */
final class TritonRecords implements Closeable {
    private static final int BUFFER_BYTES = 1 << 16;
    /** Bytes before the first record: a mark of UTF-8, a bracket, white space. */
    private static final int MOST_BEFORE = 64;

    private final UnzippedFile in;
    private final TritonRecordCutter cutter;
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private int position;
    private int filled;
    private long passed;
    private long offset;
    private long nextOffset;

    /** Opens a file; gzip is told by its first bytes. */
    TritonRecords(Path file, LineSource.Limits limits) throws IOException {
        this.in = UnzippedFile.byContent(file, limits.unzippedBytes());
        this.cutter = new TritonRecordCutter(limits.lineBytes());
    }

    /** Whether the file is as Triton writes it; before the first record is asked for. */
    boolean begins() throws IOException {
        while (position < MOST_BEFORE && (position < filled || fill())) {
            byte next = buffer[position++];
            cutter.take(next);
            if (cutter.hasBegun()) {
                nextOffset = passed + position - TritonRecordCutter.beginLength();
                return true;
            }
            if (!cutter.mayBegin() && !TritonRecordCutter.isBetween(next) && next >= 0) {
                return false;
            }
        }
        return false;
    }

    /** Moves to the next record; false at the end. */
    boolean next() throws IOException {
        offset = nextOffset;
        while (position < filled || fill()) {
            if (cutter.take(buffer[position++])) {
                nextOffset = passed + position - TritonRecordCutter.beginLength();
                return true;
            }
        }
        return cutter.end();
    }

    private boolean fill() throws IOException {
        passed += filled;
        position = 0;
        filled = Math.max(0, in.read(buffer, 0, buffer.length));
        return filled > 0;
    }

    /** The record, valid until the next one is asked for, up to {@link #length()}. */
    byte[] bytes() {
        return cutter.bytes();
    }

    /** Bytes of the record. */
    int length() {
        return cutter.length();
    }

    /** True when the record is longer than taken. */
    boolean tooLong() {
        return cutter.tooLong();
    }

    /** Where the record begins, in bytes of the unzipped file. */
    long offset() {
        return offset;
    }

    /** Why the file ended early; null when it did not. */
    @Nullable
    String defect() {
        return in.defect();
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
