package io.tokenstair.job.capture;

import io.tokenstair.log.FolderLogReader;
import io.tokenstair.log.FolderLogWriter;
import java.io.IOException;
import java.nio.file.Path;

/** Folder logs of several collectors, put together as a broker would hold them. */
public final class Logs {
    private Logs() {}

    /** A new log with a partition for each of these, which have one. */
    public static Path together(Path log, Path... logs) throws IOException {
        for (int partition = 0; partition < logs.length; partition++) {
            try (FolderLogReader reader = new FolderLogReader(logs[partition].resolve("partition-0000"), 0);
                    FolderLogWriter writer = new FolderLogWriter(log, partition)) {
                for (byte[] bytes = reader.next(); bytes != null; bytes = reader.next()) {
                    writer.append(bytes);
                }
            }
        }
        return log;
    }
}
