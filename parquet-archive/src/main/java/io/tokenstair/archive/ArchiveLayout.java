package io.tokenstair.archive;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Where the files of an archive lie: {@code table=<table>/date=<date>/hour=<hour>/*.parquet} in UTC by event time, and
 * {@code table=<table>/date=undated/hour=undated/*.parquet} for rows without one: every file has the same partition keys, which is
 * what other programs ask for.
 */
public final class ArchiveLayout {
    private static final String TABLE_PREFIX = "table=";
    private static final String SUFFIX = ".parquet";
    private static final String WRITTEN_BY_RUN = "_written-by-run";
    private static final DateTimeFormatter DATE_HOUR = DateTimeFormatter.ofPattern(
                    "'date='uuuu-MM-dd'/hour='HH", Locale.ROOT)
            .withZone(ZoneOffset.UTC);

    private ArchiveLayout() {}

    /**
     * The folder of a row inside the archive, with {@code /} between its parts.
     *
     * @param table table of the row
     * @param epochMillis event time of the row; null where it has none
     */
    public static String bucket(String table, @Nullable Long epochMillis) {
        return TABLE_PREFIX + table + "/"
                + (epochMillis == null
                        ? "date=undated/hour=undated"
                        : DATE_HOUR.format(Instant.ofEpochMilli(epochMillis)));
    }

    /** The folder of a table. */
    public static Path folder(Path archive, String table) {
        return archive.resolve(TABLE_PREFIX + table);
    }

    /**
     * The finished files of a table, sorted by path, undated last. Files and folders whose names start with a dot or an underscore
     * are unfinished or not ours: left out. Empty when the archive has no such table.
     */
    public static List<Path> files(Path archive, String table) {
        Path folder = folder(archive, table);
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> paths = Files.walk(folder, FileVisitOption.FOLLOW_LINKS)) {
            return paths.filter(path -> isFinished(folder, path))
                    .sorted(Comparator.comparing(
                            (Path path) -> folder.relativize(path).toString().replace('\\', '/')))
                    .toList();
        } catch (IOException | UncheckedIOException e) {
            throw new ArchiveException(
                    "Cannot list folder " + folder + ": " + e.getMessage()
                            + ". Check that it can be read and that no link in it" + " leads back to it.",
                    e);
        }
    }

    private static boolean isFinished(Path folder, Path path) {
        if (!path.toString().endsWith(SUFFIX) || !Files.isRegularFile(path)) {
            return false;
        }
        for (Path part : folder.relativize(path)) {
            String name = part.toString();
            if (name.startsWith(".") || name.startsWith("_")) {
                return false;
            }
        }
        return true;
    }

    /** The tables of an archive by their folders, sorted; tables this version does not know included. */
    public static List<String> tables(Path archive) {
        if (!Files.isDirectory(archive)) {
            return List.of();
        }
        try (Stream<Path> paths = Files.list(archive)) {
            return paths.filter(Files::isDirectory)
                    .map(path -> path.getFileName().toString())
                    .filter(name -> name.startsWith(TABLE_PREFIX))
                    .map(name -> name.substring(TABLE_PREFIX.length()))
                    .sorted()
                    .toList();
        } catch (IOException | UncheckedIOException e) {
            throw new ArchiveException("Cannot list folder " + archive + ": " + e.getMessage(), e);
        }
    }

    /**
     * True when a running job wrote the raw tables. It knew of each event only what had come before, and a replay must say the same:
     * names that are known later join nothing.
     */
    public static boolean isWrittenByRun(Path archive) {
        return Files.exists(archive.resolve(WRITTEN_BY_RUN));
    }

    /**
     * Notes in the archive, and in a copy of its raw tables, that a running job wrote it.
     *
     * @throws ArchiveException when it cannot be written
     */
    public static void markWrittenByRun(Path archive) {
        try {
            Files.createDirectories(archive);
            Files.writeString(
                    archive.resolve(WRITTEN_BY_RUN),
                    "The raw tables were written by a running job; a replay joins no names that it did not join.\n");
        } catch (IOException e) {
            throw new ArchiveException("Cannot write into the archive " + archive + ": " + e.getMessage(), e);
        }
    }

    /** True when an analysis has written into the archive: any result table has a file. */
    public static boolean hasResults(Path archive) {
        return ResultTables.all().stream()
                .anyMatch(schema -> !files(archive, schema.table()).isEmpty());
    }

    /**
     * The archive itself, if it is one.
     *
     * @throws ArchiveException when there is no such folder or it has no table
     */
    public static Path requireArchive(Path archive) {
        if (!Files.exists(archive)) {
            throw new ArchiveException("Cannot read archive " + archive
                    + ": there is no such folder. Name the folder that import, run or replay wrote.");
        }
        if (!Files.isDirectory(archive)) {
            throw new ArchiveException("Cannot read archive " + archive
                    + ": it is no folder. Name the folder that import, run or replay wrote.");
        }
        if (tables(archive).isEmpty()) {
            throw new ArchiveException(
                    "Cannot read archive " + archive
                            + ": it has no table (no folder named table=...). Write one with import or run, or name another folder.");
        }
        return archive;
    }
}
