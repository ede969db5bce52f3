package io.tokenstair.live;

import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/** What the tests ask of the machine that they run on: folders, Python environments, ports, patience. */
final class Machine {
    private static final int MINUTES_TO_INSTALL = 23;

    /** Below the ports that the system gives to outgoing connections, so that none of those takes one before its server does. */
    private static final int FIRST_PORT = 15_000;

    private static final int PORTS = 15_000;

    private static final Random RANDOM = new Random();

    private Machine() {}

    /** Folder of this module's scripts. */
    static Path module() {
        return Path.of(System.getProperty("project.root", ".."))
                .resolve("live-engines")
                .toAbsolutePath()
                .normalize();
    }

    /** An empty folder that stays after the test, for whoever looks into a failure. */
    static Path work(String name) throws IOException {
        Path folder = module().resolve("target/live").resolve(name);
        if (Files.exists(folder)) {
            try (Stream<Path> old = Files.walk(folder)) {
                for (Path path : old.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(path);
                }
            }
        }
        return Files.createDirectories(folder);
    }

    /** The Python of an environment with this engine, made where it is missing. */
    static Path python(String engine, Path work) throws IOException, InterruptedException, CannotRunException {
        String given = System.getProperty(engine + ".venv", "");
        if (!given.isBlank()) {
            return Path.of(given).resolve("bin/python");
        }
        Path errors = work.resolve("environment.err");
        Path output = work.resolve("environment.out");
        String script = module().resolve("python-environment.sh").toString();
        try (ChildProcess made = ChildProcess.start(
                errors,
                Map.of(),
                List.of("bash", "-c", "exec \"$0\" \"$1\" >\"$2\"", script, engine, output.toString()))) {
            long minutes = Math.min(MINUTES_TO_INSTALL, minutesLeft());
            if (!made.process().waitFor(minutes, TimeUnit.MINUTES)) {
                throw new CannotRunException("its Python environment was not there after " + minutes + " minutes");
            }
            String said = made.output();
            said.lines().filter(line -> line.startsWith("live-engines: ")).forEach(System.out::println);
            if (made.process().exitValue() != 0) {
                throw new CannotRunException(said.lines()
                        .filter(line -> !line.startsWith("live-engines: "))
                        .reduce("", (all, line) -> all + line + "\n"));
            }
        }
        return Path.of(Files.readString(output).strip()).resolve("bin/python");
    }

    /** Minutes until no more engine is to be started, which the build may be told; a day where it was not. */
    private static long minutesLeft() {
        long until = Long.getLong("live.until", 0);
        return until == 0 ? TimeUnit.DAYS.toMinutes(1) : (until - System.currentTimeMillis() / 1000) / 60;
    }

    /** Starts an engine; where the machine cannot, says why in a line of the build's output and skips the test. */
    static <E> E orSkip(String engine, Engine<E> starting) throws Exception {
        try {
            if (minutesLeft() <= 0) {
                throw new CannotRunException("the build has no time left for it");
            }
            return starting.start();
        } catch (CannotRunException why) {
            System.out.println("live-engines: " + engine + " cannot run here: " + why.getMessage());
            return abort(engine + " cannot run here: " + why.getMessage());
        }
    }

    /** How an engine is started. */
    interface Engine<E> {
        E start() throws Exception;
    }

    /** Runs one of this module's scripts, with one argument. */
    static void script(Path work, Path python, String name, Path argument) throws IOException, InterruptedException {
        List<String> command = List.of(python.toString(), module().resolve(name).toString(), argument.toString());
        try (ChildProcess made = ChildProcess.start(work.resolve(name + ".log"), Map.of(), command)) {
            if (made.await(600) != 0) {
                throw new IOException(name + " failed: " + made.output());
            }
        }
    }

    /** Says that it cannot run here where the system does not have as much memory for a new process. */
    static void requireMemory(long gib) throws IOException, CannotRunException {
        Path told = Path.of("/proc/meminfo");
        if (!Files.isReadable(told)) {
            return;
        }
        for (String line : Files.readAllLines(told)) {
            if (line.startsWith("MemAvailable:")) {
                long free = Long.parseLong(line.replaceAll("\\D", "")) >> 20;
                if (free < gib) {
                    throw new CannotRunException("it takes " + gib + " GiB of memory, " + free + " are free");
                }
            }
        }
    }

    /** A port that nobody listens on. */
    static int freePort() throws IOException {
        for (int tried = 0; tried < 200; tried++) {
            try (ServerSocket socket =
                    new ServerSocket(FIRST_PORT + RANDOM.nextInt(PORTS), 1, InetAddress.getByName("0.0.0.0"))) {
                return socket.getLocalPort();
            } catch (IOException taken) {
                continue;
            }
        }
        throw new IOException("no free port found");
    }

    /** Waits until this holds; false where it does not within these minutes. Asks about twice a second. */
    static boolean waitFor(int minutes, Callable<Boolean> condition) throws Exception {
        long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(minutes);
        while (!condition.call()) {
            if (System.nanoTime() > end) {
                return condition.call();
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(500));
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
        }
        return true;
    }
}
