package io.tokenstair.job.source;

import io.tokenstair.archive.RawTables;
import io.tokenstair.event.EventKind;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.apache.flink.connector.file.src.enumerate.FileEnumerator;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;

/**
 * Finds what there is to read in an archive, in the order of the paths: a split per finished file of a plain raw table, and a split
 * per hour of steps, whose path is the hour's folder in the table of steps, whether that folder exists or not.
 */
final class ArchiveFiles implements FileEnumerator {
    private static final String TABLE_PREFIX = "table=";
    private static final String SUFFIX = ".parquet";

    /** The tables that steps are spread over; the first has a row for each step. */
    static final List<String> STEP_TABLES = RawTables.tablesOf(EventKind.STEP_COMPLETED);

    @Override
    public Collection<FileSourceSplit> enumerateSplits(Path[] archives, int fewestSplits) throws IOException {
        List<FileSourceSplit> splits = new ArrayList<>();
        for (Path archive : archives) {
            FileSystem files = archive.getFileSystem();
            if (!files.exists(archive)) {
                throw new UnusableInputException("Cannot read archive " + archive
                        + ": there is no such folder; name the folder that import, run or replay wrote");
            }
            for (String table : RawTables.all()) {
                if (!STEP_TABLES.contains(table)) {
                    addFiles(archive, table, splits);
                }
            }
            addHoursOfSteps(archive, splits);
        }
        return splits;
    }

    private static void addFiles(Path archive, String table, List<FileSourceSplit> splits) throws IOException {
        for (FileStatus file : finished(tableFolder(archive, table)).values()) {
            splits.add(split(splits.size(), file.getPath(), file.getLen(), file.getModificationTime()));
        }
    }

    private static void addHoursOfSteps(Path archive, List<FileSourceSplit> splits) throws IOException {
        Set<String> hours = new TreeSet<>();
        for (String table : STEP_TABLES) {
            Path folder = tableFolder(archive, table);
            String prefix = folder.getPath() + "/";
            for (FileStatus file : finished(folder).values()) {
                hours.add(file.getPath().getParent().getPath().substring(prefix.length()));
            }
        }
        for (String hour : hours) {
            splits.add(split(splits.size(), new Path(tableFolder(archive, STEP_TABLES.get(0)), hour), 0, 0));
        }
    }

    private static FileSourceSplit split(int number, Path path, long length, long modified) {
        return new FileSourceSplit(String.format(Locale.ROOT, "%010d", number), path, 0, length, modified, length);
    }

    /** The folders of an hour of steps, one per table in the order of {@link #STEP_TABLES}, from its split's path. */
    static List<Path> stepFolders(Path hour) {
        List<Path> folders = new ArrayList<>();
        String first = TABLE_PREFIX + STEP_TABLES.get(0) + "/";
        String path = hour.toString();
        int at = path.lastIndexOf(first);
        for (String table : STEP_TABLES) {
            folders.add(
                    new Path(path.substring(0, at) + TABLE_PREFIX + table + "/" + path.substring(at + first.length())));
        }
        return folders;
    }

    /** The table that a file or a folder of an archive belongs to. */
    static String table(Path path) throws IOException {
        for (Path folder = path; folder != null; folder = folder.getParent()) {
            if (folder.getName().startsWith(TABLE_PREFIX)) {
                return folder.getName().substring(TABLE_PREFIX.length());
            }
        }
        throw new IOException("Cannot read " + path + ": it lies in no folder named table=...");
    }

    private static Path tableFolder(Path archive, String table) {
        return new Path(archive, TABLE_PREFIX + table);
    }

    /** The finished files below a folder by their path; none when there is no such folder. */
    static Map<String, FileStatus> finished(Path folder) throws IOException {
        Map<String, FileStatus> found = new TreeMap<>();
        FileSystem files = folder.getFileSystem();
        if (files.exists(folder)) {
            addFinished(files, folder, found);
        }
        return found;
    }

    private static void addFinished(FileSystem files, Path folder, Map<String, FileStatus> found) throws IOException {
        FileStatus[] entries = files.listStatus(folder);
        if (entries == null) {
            return;
        }
        for (FileStatus entry : entries) {
            String name = entry.getPath().getName();
            if (name.startsWith(".") || name.startsWith("_")) {
                continue;
            }
            if (entry.isDir()) {
                addFinished(files, entry.getPath(), found);
            } else if (name.endsWith(SUFFIX)) {
                found.put(entry.getPath().getPath(), entry);
            }
        }
    }
}
