package io.tokenstair.job.source;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.api.java.typeutils.ResultTypeQueryable;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/**
 * Reads a folder log, {@code DIR/partition-NNNN/segment-*.log}. A partition is a split and its records keep their order; the position
 * (the ordinal of the next record) is kept in checkpoints, so that a restart goes on at exactly that record.
 *
 * <p>Bounded, each partition ends where it ends now and a log without partitions is an error. Unbounded, records and partitions
 * that are appended later are found by looking again; there is no wait for them other than that pause. The folder must be reachable under the
 * same path from every machine of the cluster.
 */
public final class FolderLogSource
        implements Source<RawRecord, FolderLogSplit, FolderLogProgress>, ResultTypeQueryable<RawRecord> {
    private static final long serialVersionUID = 1L;

    private static final Duration POLL = Duration.ofMillis(100);
    private static final Duration DISCOVERY = Duration.ofSeconds(1);

    private final String log;
    private final boolean unbounded;
    private final long pollMillis;
    private final long discoveryMillis;

    private FolderLogSource(Path log, boolean unbounded, Duration poll, Duration discovery) {
        this.log = log.toAbsolutePath().normalize().toString();
        this.unbounded = unbounded;
        this.pollMillis = poll.toMillis();
        this.discoveryMillis = discovery.toMillis();
    }

    /** A source that ends where the log ends. */
    public static FolderLogSource bounded(Path log) {
        return new FolderLogSource(log, false, POLL, DISCOVERY);
    }

    /** A source that goes on with what is appended. */
    public static FolderLogSource unbounded(Path log) {
        return new FolderLogSource(log, true, POLL, DISCOVERY);
    }

    Path log() {
        return Path.of(log);
    }

    boolean isUnbounded() {
        return unbounded;
    }

    long pollMillis() {
        return pollMillis;
    }

    long discoveryMillis() {
        return discoveryMillis;
    }

    @Override
    public Boundedness getBoundedness() {
        return unbounded ? Boundedness.CONTINUOUS_UNBOUNDED : Boundedness.BOUNDED;
    }

    @Override
    public SourceReader<RawRecord, FolderLogSplit> createReader(SourceReaderContext context) {
        return new FolderLogSourceReader(this, context);
    }

    @Override
    public SplitEnumerator<FolderLogSplit, FolderLogProgress> createEnumerator(
            SplitEnumeratorContext<FolderLogSplit> context) {
        return restoreEnumerator(context, new FolderLogProgress(Set.of(), List.of()));
    }

    @Override
    public SplitEnumerator<FolderLogSplit, FolderLogProgress> restoreEnumerator(
            SplitEnumeratorContext<FolderLogSplit> context, FolderLogProgress progress) {
        return new FolderLogEnumerator(context, this, progress);
    }

    @Override
    public SimpleVersionedSerializer<FolderLogSplit> getSplitSerializer() {
        return new FolderLogSplitSerializer();
    }

    @Override
    public SimpleVersionedSerializer<FolderLogProgress> getEnumeratorCheckpointSerializer() {
        return new FolderLogProgress.Serializer();
    }

    @Override
    public TypeInformation<RawRecord> getProducedType() {
        return RawRecordTypeInfo.INSTANCE;
    }
}
