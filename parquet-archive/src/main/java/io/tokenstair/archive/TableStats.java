package io.tokenstair.archive;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * How large a table is.
 *
 * @param table name of the table
 * @param fileCount its finished files
 * @param rowCount rows in them, by their footers
 * @param sizeBytes bytes on disk
 */
public record TableStats(String table, int fileCount, long rowCount, long sizeBytes) {

    /**
     * The tables of an archive, sorted by name; tables this version does not know included.
     *
     * @throws ArchiveException when a file is not complete
     */
    public static List<TableStats> of(Path archive) {
        List<TableStats> stats = new ArrayList<>();
        for (String table : ArchiveLayout.tables(archive)) {
            List<Path> files = ArchiveLayout.files(archive, table);
            long rows = 0;
            long bytes = 0;
            for (Path file : files) {
                rows += ParquetInput.rowCount(file);
                bytes += size(file);
            }
            stats.add(new TableStats(table, files.size(), rows, bytes));
        }
        return List.copyOf(stats);
    }

    private static long size(Path file) {
        try {
            return Files.size(file);
        } catch (IOException e) {
            throw new ArchiveException("Cannot read the size of file " + file + ": " + e.getMessage(), e);
        }
    }
}
