package io.tokenstair.collector.reach;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The process that listens at a TCP port of this machine, from /proc. Processes of other users are not seen. */
final class ListeningProcess {
    private static final String LISTENING = "0A";
    private static final int LOCAL = 1;
    private static final int STATE = 3;
    private static final int INODE = 9;

    private ListeningProcess() {}

    /** Its name and number; null where it cannot be told. */
    static @Nullable String of(int port) {
        Set<String> wanted = new HashSet<>();
        String hexPort = String.format(Locale.ROOT, ":%04X", port);
        for (String table : List.of("/proc/net/tcp", "/proc/net/tcp6")) {
            try {
                for (String line : Files.readAllLines(Path.of(table), StandardCharsets.ISO_8859_1)) {
                    String[] fields = line.strip().split("\\s+", -1);
                    if (fields.length > INODE && fields[LOCAL].endsWith(hexPort) && fields[STATE].equals(LISTENING)) {
                        wanted.add("socket:[" + fields[INODE] + "]");
                    }
                }
            } catch (IOException noSuchTable) {
                continue;
            }
        }
        return wanted.isEmpty() ? null : owner(wanted);
    }

    private static @Nullable String owner(Set<String> sockets) {
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(Path.of("/proc"), "[0-9]*")) {
            for (Path process : processes) {
                if (holds(process, sockets)) {
                    String name = Files.readString(process.resolve("comm")).strip();
                    return FoundServer.shown(name) + " (process " + process.getFileName() + ")";
                }
            }
        } catch (IOException | RuntimeException notTold) {
            return null;
        }
        return null;
    }

    private static boolean holds(Path process, Set<String> sockets) {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(process.resolve("fd"))) {
            for (Path file : files) {
                if (sockets.contains(Files.readSymbolicLink(file).toString())) {
                    return true;
                }
            }
        } catch (IOException | RuntimeException ofAnotherUser) {
            return false;
        }
        return false;
    }
}
