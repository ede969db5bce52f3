package io.tokenstair.collect.input;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;

/**
 * A capture folder and its files. A file may be there plain or gzipped with {@code .gz} added to its name; where both are, the
 * plain one is read. Only regular files count.
 */
public final class CaptureFolder {
    private final Path folder;
    private final String label;

    /**
     * The files of a folder.
     *
     * @param folder where the capture lies
     * @param label put before the file names where several captures are imported together; empty for one
     */
    public CaptureFolder(Path folder, String label) {
        this.folder = folder;
        this.label = label;
    }

    /** Where the capture lies. */
    public Path folder() {
        return folder;
    }

    /** The file of this name, plain or gzipped; null when there is neither. */
    public @Nullable Path find(String name) {
        Path plain = folder.resolve(name);
        if (Files.isRegularFile(plain)) {
            return plain;
        }
        Path zipped = folder.resolve(name + ".gz");
        return Files.isRegularFile(zipped) ? zipped : null;
    }

    /** The files of a subfolder ("" for the folder itself) whose name without {@code .gz} is wanted, by that name. */
    public List<Path> list(String subfolder, Predicate<String> wanted) throws IOException {
        Path parent = folder.resolve(subfolder);
        if (!Files.isDirectory(parent)) {
            return List.of();
        }
        TreeMap<String, Path> found = new TreeMap<>();
        try (Stream<Path> entries = Files.list(parent)) {
            for (Path entry : (Iterable<Path>) entries.sorted()::iterator) {
                String name = plainName(entry);
                if (wanted.test(name) && Files.isRegularFile(entry)) {
                    found.putIfAbsent(name, entry);
                }
            }
        }
        return List.copyOf(found.values());
    }

    /**
     * All bytes of a small file, unzipped where they are gzipped.
     *
     * @throws RejectedRecordException when it holds more than {@code maxBytes}, or its gzip stream is cut or damaged
     */
    public static byte[] readWhole(Path file, int maxBytes) throws IOException, RejectedRecordException {
        byte[] bytes;
        try (InputStream in = Files.newInputStream(file)) {
            bytes = in.readNBytes(maxBytes + 1);
        }
        if (bytes.length > 1 && bytes[0] == 0x1f && bytes[1] == (byte) 0x8b) {
            try (InputStream in = new GZIPInputStream(new ByteArrayInputStream(bytes))) {
                bytes = in.readNBytes(maxBytes + 1);
            } catch (IOException e) {
                throw new RejectedRecordException("the gzip file is cut or damaged");
            }
        }
        if (bytes.length > maxBytes) {
            throw new RejectedRecordException("more than " + maxBytes + " bytes");
        }
        return bytes;
    }

    /** The name of a file without {@code .gz}. */
    public static String plainName(Path file) {
        String name = file.getFileName().toString();
        return name.endsWith(".gz") ? name.substring(0, name.length() - ".gz".length()) : name;
    }

    /** How events name a file of this capture: its path inside the folder, with forward slashes. */
    public String sourceName(Path file) {
        return label + folder.relativize(file).toString().replace('\\', '/');
    }
}
