package io.tokenstair.live;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The processes of a real engine, started here on free ports of the loopback address. */
final class LiveEngine implements AutoCloseable {
    private static final int MINUTES_TO_START = 12;

    /** What a process says of itself when the machine killed it: 128 and the signal. */
    private static final int KILLED = 137;

    /** Exit code of a process that the processor's refusal of an instruction ended. */
    private static final int ILLEGAL_INSTRUCTION = 128 + 4;

    private final Path work;
    private final List<ChildProcess> processes = new ArrayList<>();

    LiveEngine(Path work) {
        this.work = work;
    }

    /** Starts one of them; its log is named after it. */
    void start(String name, Map<String, String> environment, List<String> command) throws IOException {
        processes.add(ChildProcess.start(log(name), environment, command));
    }

    /** Where a process of this name logs. */
    Path log(String name) {
        return work.resolve(name + ".log");
    }

    /**
     * Waits until it answers; it is ended where it does not.
     *
     * @throws CannotRunException where the machine killed it, is too slow for it, or has a processor of another kind than its build
     * @throws IOException where it ended by itself: that is a fault, of its flags or of what was put into it
     */
    void awaitAnswer(StreamingClient client, String path, String text) throws Exception {
        boolean up = false;
        try {
            if (!Machine.waitFor(MINUTES_TO_START, () -> client.answers(path, text) || hasEnded())) {
                throw new CannotRunException("it did not answer within " + MINUTES_TO_START + " minutes");
            }
            for (ChildProcess process : processes) {
                if (!process.process().isAlive()) {
                    int code = process.process().exitValue();
                    if (code == KILLED) {
                        throw new CannotRunException("the machine killed it, for want of memory it seems");
                    }
                    if (code == ILLEGAL_INSTRUCTION) {
                        throw new CannotRunException(
                                "this machine's processor lacks instructions that its build uses: " + process.output());
                    }
                    throw new IOException(process.log() + ": ended with " + code + ": " + process.output());
                }
            }
            up = true;
        } finally {
            if (!up) {
                close();
            }
        }
    }

    private boolean hasEnded() {
        return processes.stream().anyMatch(process -> !process.process().isAlive());
    }

    @Override
    public void close() throws InterruptedException {
        for (ChildProcess process : processes) {
            process.close();
        }
        processes.clear();
    }

    /**
     * Starts collectors of what it says, with a gateway before it, and waits until clients are served.
     *
     * @param log where they collect to
     * @param client asks the engine itself
     * @param collectors further collectors, as lines of the configuration file
     */
    static Collecting collect(CollectedLog log, StreamingClient client, String collectors) throws Exception {
        int port = Machine.freePort();
        Path file = Path.of(log.folder() + ".yaml");
        Files.writeString(
                file,
                "to: " + log.folder() + "\ncollectors:\n  - type: gateway\n    upstream: " + client.server()
                        + "\n    listen: 127.0.0.1:" + port + "\n" + collectors);
        ChildProcess process = ChildProcess.java(
                Path.of(log.folder() + ".log"), "io.tokenstair.collector.CollectMain", "--config", file.toString());
        StreamingClient before = new StreamingClient(URI.create("http://127.0.0.1:" + port), client.dialect());
        Collecting collecting = new Collecting(log, before, process);
        if (!Machine.waitFor(
                        5,
                        () -> !process.process().isAlive() || process.output().contains("Collecting to"))
                || !process.process().isAlive()) {
            String said = process.output();
            collecting.close();
            throw new IOException("The collectors did not start: " + said);
        }
        return collecting;
    }

    /**
     * Collectors that run.
     *
     * @param log where they write
     * @param client asks the gateway
     * @param process all of them
     */
    record Collecting(CollectedLog log, StreamingClient client, ChildProcess process) implements AutoCloseable {
        @Override
        public void close() throws InterruptedException {
            process.close();
        }
    }
}
