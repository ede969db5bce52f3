package io.tokenstair.collect.live;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * Files that grow, looked at again and again by one thread: one file, or all whose names match a pattern with {@code *}, in the order of
 * their names, so that a writer may begin file after file. Holds at most {@value #MAX_FILES}; beyond, the first by name are let go.
 */
public final class FollowedFiles implements Closeable {
    private static final int MAX_FILES = 64;
    private static final int MAX_FOLDER_ENTRIES = 100_000;

    private final Path path;
    private final int mostLineBytes;
    private final Function<Path, FileFollower.Lines> lines;
    private final Runnable afterEachLook;
    private final ScheduledExecutorService clock;
    private final TreeMap<String, FileFollower> followers = new TreeMap<>();
    private boolean fromEnd;
    private String letGo = "";

    private FollowedFiles(
            Path path,
            boolean fromEnd,
            int mostLineBytes,
            Function<Path, FileFollower.Lines> lines,
            Runnable afterEachLook) {
        this.path = path;
        this.fromEnd = fromEnd;
        this.mostLineBytes = mostLineBytes;
        this.lines = lines;
        this.afterEachLook = afterEachLook;
        this.clock = Executors.newSingleThreadScheduledExecutor(task -> {
            Thread thread = new Thread(task, "tokenstair-follow");
            thread.setDaemon(true);
            return thread;
        });
    }

    /**
     * Begins to follow.
     *
     * @param path a file, or a pattern in its last name; it need not exist yet
     * @param fromEnd true to pass over what files hold that exist already
     * @param every rest between two looks
     * @param mostLineBytes longest line that is taken
     * @param lines takes the lines of a file
     * @param afterEachLook called when all that was there was taken
     */
    public static FollowedFiles start(
            Path path,
            boolean fromEnd,
            Duration every,
            int mostLineBytes,
            Function<Path, FileFollower.Lines> lines,
            Runnable afterEachLook) {
        FollowedFiles files = new FollowedFiles(path, fromEnd, mostLineBytes, lines, afterEachLook);
        files.clock.scheduleWithFixedDelay(files::look, 0, Math.max(10, every.toMillis()), TimeUnit.MILLISECONDS);
        return files;
    }

    private void look() {
        for (Path file : files()) {
            String name = file.toString();
            if (!followers.containsKey(name) && name.compareTo(letGo) > 0) {
                followers.put(name, new FileFollower(file, fromEnd, mostLineBytes, lines.apply(file)));
            }
        }
        fromEnd = false;
        while (followers.size() > MAX_FILES) {
            Map.Entry<String, FileFollower> first = followers.pollFirstEntry();
            first.getValue().close();
            letGo = first.getKey();
        }
        for (FileFollower follower : followers.values()) {
            boolean more = true;
            while (more && !Thread.currentThread().isInterrupted()) {
                more = follower.look();
            }
        }
        afterEachLook.run();
    }

    private List<Path> files() {
        String pattern = String.valueOf(path.getFileName());
        if (pattern.indexOf('*') < 0) {
            return List.of(path);
        }
        Path folder = path.toAbsolutePath().getParent();
        List<Path> found = new ArrayList<>();
        if (folder == null || !Files.isDirectory(folder)) {
            return found;
        }
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder, pattern)) {
            for (Path entry : entries) {
                if (found.size() == MAX_FOLDER_ENTRIES) {
                    break;
                }
                found.add(entry);
            }
        } catch (IOException away) {
            return List.of();
        }
        found.sort(null);
        return found;
    }

    /** Takes what is there now, and nothing more. */
    @Override
    public void close() {
        clock.execute(this::look);
        clock.shutdown();
        try {
            if (!clock.awaitTermination(5, TimeUnit.SECONDS)) {
                clock.shutdownNow();
            }
        } catch (InterruptedException stopped) {
            clock.shutdownNow();
            Thread.currentThread().interrupt();
        }
        followers.values().forEach(FileFollower::close);
    }
}
