package io.tokenstair.job.source;

import java.util.Map;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.connector.base.source.reader.SingleThreadMultiplexSourceReaderBase;
import org.apache.flink.core.io.InputStatus;

/** Emits the records of one subtask's partitions and remembers the position after the last one emitted of each. */
final class FolderLogSourceReader
        extends SingleThreadMultiplexSourceReaderBase<
                RawRecord, RawRecord, FolderLogSplit, FolderLogSourceReader.Position> {

    private final boolean bounded;

    FolderLogSourceReader(FolderLogSource source, SourceReaderContext context) {
        super(
                () -> new FolderLogSplitReader(source),
                (record, output, position) -> {
                    output.collect(record);
                    position.next = record.ordinal + 1;
                },
                context.getConfiguration(),
                context);
        bounded = source.getBoundedness() == Boundedness.BOUNDED;
    }

    @Override
    public InputStatus pollNext(ReaderOutput<RawRecord> output) throws Exception {
        if (!bounded && getNumberOfCurrentlyAssignedSplits() == 0) {
            // Without a partition this subtask has no event time: the others must not wait for it. In a bounded read
            // such a subtask
            // ends at once; marked idle, Flink would swallow the last watermark, and no timer would fire.
            output.markIdle();
        }
        return super.pollNext(output);
    }

    @Override
    protected void onSplitFinished(Map<String, Position> finished) {
        // The enumerator hands out every split at once: there is no more to ask for.
    }

    @Override
    protected Position initializedState(FolderLogSplit split) {
        return new Position(split.position());
    }

    @Override
    protected FolderLogSplit toSplitType(String partition, Position position) {
        return new FolderLogSplit(partition, position.next);
    }

    /** Ordinal of the next record of a partition. */
    static final class Position {
        private long next;

        private Position(long next) {
            this.next = next;
        }
    }
}
