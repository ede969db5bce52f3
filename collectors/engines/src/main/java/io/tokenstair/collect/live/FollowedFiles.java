package io.tokenstair.collect.live;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * Files that grow, looked at again and again by one thread: one file, or all whose names match a pattern with {@code *}, in the order of
 * their names, numbers in them by their value, so that a writer may begin file after file. Holds at most {@value #MAX_FILES}; beyond, those
 * that were written longest ago are read to their end and let go. One of those that is written later is followed again, from its start: its writer
 * began to number anew.
 */
public final class FollowedFiles implements Closeable {
    private static final int MAX_FILES = 64;
    private static final int MAX_FOLDER_ENTRIES = 100_000;
    /** Those that were let go are looked at in every so many looks. */
    private static final int LOOKS_AT_OTHERS = 10;

    private final Path path;
    private final Function<Path, FileFollower.Cutter> cutters;
    private final Runnable afterEachLook;
    private final ScheduledExecutorService clock;
    private final TreeMap<String, FileFollower> followers = new TreeMap<>(FollowedFiles::compareNames);
    private boolean fromEnd;
    /** When the files that were let go had been written last, by their names. */
    private final Map<String, FileTime> letGo = new HashMap<>();

    private int looks;

    private FollowedFiles(
            Path path, boolean fromEnd, Function<Path, FileFollower.Cutter> cutters, Runnable afterEachLook) {
        this.path = path;
        this.fromEnd = fromEnd;
        this.cutters = cutters;
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
     * @param cutters cuts what is read of a file into pieces and takes them
     * @param afterEachLook called when all that was there was taken
     */
    public static FollowedFiles start(
            Path path,
            boolean fromEnd,
            Duration every,
            Function<Path, FileFollower.Cutter> cutters,
            Runnable afterEachLook) {
        FollowedFiles files = new FollowedFiles(path, fromEnd, cutters, afterEachLook);
        files.clock.scheduleWithFixedDelay(files::look, 0, Math.max(10, every.toMillis()), TimeUnit.MILLISECONDS);
        return files;
    }

    private void look() {
        boolean lookAtOthers = looks++ % LOOKS_AT_OTHERS == 0;
        List<Path> files = files();
        for (Path file : files) {
            String name = file.toString();
            FileTime before = letGo.get(name);
            boolean isNew = before == null || (lookAtOthers && modified(file).compareTo(before) > 0);
            if (isNew && !followers.containsKey(name)) {
                letGo.remove(name);
                followers.put(name, new FileFollower(file, fromEnd, cutters.apply(file)));
                if (followers.size() > MAX_FILES) {
                    letGo(oldest());
                }
            }
        }
        if (lookAtOthers && letGo.size() > files.size()) {
            Set<String> names = new HashSet<>();
            files.forEach(file -> names.add(file.toString()));
            letGo.keySet().retainAll(names);
        }
        fromEnd = false;
        followers.values().forEach(FollowedFiles::readAll);
        afterEachLook.run();
    }

    /** The followed file that was written longest ago; the first by name of several. */
    private String oldest() {
        String oldest = followers.firstKey();
        FileTime earliest = modified(Path.of(oldest));
        for (String name : followers.keySet()) {
            FileTime written = modified(Path.of(name));
            if (written.compareTo(earliest) < 0) {
                oldest = name;
                earliest = written;
            }
        }
        return oldest;
    }

    private static void readAll(FileFollower follower) {
        boolean more = true;
        while (more && !Thread.currentThread().isInterrupted()) {
            more = follower.look();
        }
    }

    private void letGo(String name) {
        FileFollower follower = followers.remove(name);
        if (follower != null) {
            letGo.put(name, modified(Path.of(name)));
            readAll(follower);
            follower.letGo();
        }
    }

    /** When a file was written last; long ago where it is away. */
    private static FileTime modified(Path file) {
        try {
            return Files.getLastModifiedTime(file);
        } catch (IOException away) {
            return FileTime.fromMillis(0);
        }
    }

    /** Names in their order, runs of digits in them by their value: 9 before 10. */
    static int compareNames(String left, String right) {
        int i = 0;
        int j = 0;
        while (i < left.length() && j < right.length()) {
            int leftEnd = endOfDigits(left, i);
            int rightEnd = endOfDigits(right, j);
            int order;
            if (leftEnd > i && rightEnd > j) {
                order = compareDigits(left.substring(i, leftEnd), right.substring(j, rightEnd));
                i = leftEnd;
                j = rightEnd;
            } else {
                order = Character.compare(left.charAt(i++), right.charAt(j++));
            }
            if (order != 0) {
                return order;
            }
        }
        int rest = Integer.compare(left.length() - i, right.length() - j);
        return rest != 0 ? rest : left.compareTo(right);
    }

    private static int endOfDigits(String name, int from) {
        int end = from;
        while (end < name.length() && name.charAt(end) >= '0' && name.charAt(end) <= '9') {
            end++;
        }
        return end;
    }

    private static int compareDigits(String left, String right) {
        String a = left.replaceFirst("^0+", "");
        String b = right.replaceFirst("^0+", "");
        return a.length() != b.length() ? Integer.compare(a.length(), b.length()) : a.compareTo(b);
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
        found.sort((left, right) -> compareNames(left.toString(), right.toString()));
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
        followers.values().forEach(FileFollower::letGo);
    }
}
