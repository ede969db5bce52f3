package io.tokenstair.job.source;

import org.apache.flink.api.connector.source.SourceSplit;

/**
 * One partition of a folder log and how far it has been read.
 *
 * @param partition name of the partition's folder
 * @param position ordinal of the next record to read
 */
public record FolderLogSplit(String partition, long position) implements SourceSplit {
    @Override
    public String splitId() {
        return partition;
    }
}
