package io.tokenstair.collect.engine.trtllm;

import io.tokenstair.clock.ElapsedClock;
import io.tokenstair.clock.HostClocks;
import io.tokenstair.collect.input.Fields;
import io.tokenstair.collect.input.RejectedRecordException;
import io.tokenstair.collect.live.FileFollower;
import io.tokenstair.collect.live.Source;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The trace files of a Triton that runs on this machine, whose stamps are of the clock that this machine's collectors read. A request is told when
 * the next one's records have come, or the array is closed. A server that starts again begins its ids and its files anew: what it
 * writes over an earlier one's file is of other requests. State: what {@link TritonTraces} holds, for each file that is followed.
 */
final class FollowedTraces {
    /** Bytes in which the first record must begin. */
    private static final int MOST_BEFORE = 64;

    private final Source source;
    private final String engine;
    private final long startedMillis;
    private final int recordBytes;
    private final ElapsedClock clock;
    private final AtomicInteger handles = new AtomicInteger();
    private final List<Followed> open = new ArrayList<>();
    private int runs;

    /**
     * Files of which none was seen.
     *
     * @param engine what the engine is called
     * @param startedMillis when the collector started, ms since 1970
     * @param recordBytes longest record that is taken
     */
    FollowedTraces(Source source, String engine, long startedMillis, int recordBytes, ElapsedClock clock) {
        this.source = source;
        this.engine = engine;
        this.startedMillis = startedMillis;
        this.recordBytes = recordBytes;
        this.clock = clock;
    }

    /** Takes what is read of a file. */
    FileFollower.Cutter cutter(Path file) {
        Followed followed = new Followed(String.valueOf(file.getFileName()));
        open.add(followed);
        return followed;
    }

    /** All that was there has been read. */
    void looked() {
        open.forEach(Followed::looked);
    }

    /** What to do with what was read; what it tells goes to a queue and cannot fail. */
    private interface Telling {
        void run() throws IOException;
    }

    private static void tell(Telling telling) {
        try {
            telling.run();
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }

    private final class Followed implements FileFollower.Cutter {
        private final String name;
        private final TritonRecordCutter cutter = new TritonRecordCutter(recordBytes);
        private TritonTraces traces;
        private int before;
        private boolean judged;
        private long recordNumber;

        Followed(String file) {
            this.name = file.length() > 120 ? file.substring(0, 120) : file;
            this.traces = newTraces();
        }

        private TritonTraces newTraces() {
            return new TritonTraces(
                    name,
                    name + "@" + startedMillis + "/" + runs++,
                    engine,
                    HostClocks.elapsedId(),
                    handles::getAndIncrement,
                    clock::elapsedNanos,
                    source.events());
        }

        @Override
        public void take(byte[] bytes, int count) {
            for (int i = 0; i < count; i++) {
                if (cutter.take(bytes[i])) {
                    record();
                }
            }
            judged |= cutter.hasBegun();
            if (!judged) {
                before += count;
                if (before > MOST_BEFORE) {
                    judged = true;
                    source.rejected("no trace file of Triton: no record begins in its first " + MOST_BEFORE + " bytes");
                }
            }
        }

        private void record() {
            recordNumber++;
            try {
                if (cutter.tooLong()) {
                    throw new RejectedRecordException("a record longer than " + recordBytes + " bytes");
                }
                Fields record = Fields.parse(cutter.bytes(), cutter.length());
                tellRecord(record);
                source.taken();
            } catch (RejectedRecordException refused) {
                // Never what it holds: a tensor may be in it.
                source.rejected(name + ": " + refused.reason(), recordNumber, null);
            }
        }

        private void tellRecord(Fields record) throws RejectedRecordException {
            try {
                traces.accept(record);
            } catch (IOException impossible) {
                throw new UncheckedIOException(impossible);
            }
        }

        void looked() {
            if (cutter.hasBegun() && cutter.endsArray() && isWhole()) {
                lastRecord();
                tell(traces::end);
                return;
            }
            tell(traces::tellOver);
        }

        /** Whether what has come of the last record is a JSON object: a bracket may also be the end of its stamps. */
        private boolean isWhole() {
            int end = cutter.length();
            while (end > 0 && TritonRecordCutter.isBetween(cutter.bytes()[end - 1])) {
                end--;
            }
            try {
                Fields.parse(cutter.bytes(), end);
                return true;
            } catch (RejectedRecordException half) {
                return false;
            }
        }

        private void lastRecord() {
            if (cutter.end()) {
                record();
            }
        }

        @Override
        public void passedOver(byte last) {
            // In the middle of an array: the next record is found by its beginning.
            judged = true;
        }

        @Override
        public void ended() {
            lastRecord();
            tell(traces::end);
        }

        @Override
        public void begunAnew(String reason) {
            if (cutter.hasBegun() && !reason.isEmpty() && !(cutter.endsArray() && isWhole())) {
                source.rejected(name + ": the file was cut inside a record");
            } else {
                lastRecord();
            }
            tell(traces::end);
            cutter.clear();
            before = 0;
            judged = false;
            recordNumber = 0;
            traces = newTraces();
        }

        @Override
        public void lost(String reason) {
            source.rejected(name + ": " + reason);
        }

        @Override
        public void letGo() {
            if (cutter.hasBegun() && isWhole()) {
                lastRecord();
            } else if (cutter.hasBegun()) {
                source.rejected(name + ": half a record at the end");
            }
            tell(traces::end);
            open.remove(this);
        }
    }
}
