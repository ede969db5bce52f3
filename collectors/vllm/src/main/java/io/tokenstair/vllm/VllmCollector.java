package io.tokenstair.vllm;

import io.tokenstair.clock.ElapsedClock;
import io.tokenstair.clock.HostClocks;
import java.io.Closeable;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;
import org.zeromq.ZMQException;

/**
 * Collects a running vLLM. One thread reads all sockets, so that nothing here needs a lock: what the probe sends, what the publishers
 * of KV events say, and what they say again when asked. Closing it ends the thread.
 */
public final class VllmCollector implements Closeable {
    private static final int POLL_MILLIS = 50;
    private static final long REPLAY_PATIENCE_NANOS = 5_000_000_000L;
    private static final int RECEIVE_QUEUE_MESSAGES = 4_096;
    private static final long MAX_MESSAGE_BYTES = 64L << 20;

    private final VllmSettings settings;
    private final ZContext context = new ZContext(1);
    private final ProbeSources probes;
    private final Map<Integer, KvEvictionReasons> evictions = new HashMap<>();
    private final List<Publisher> publishers = new ArrayList<>();
    private final ZMQ.@Nullable Socket probe;
    private final Thread reader;
    private final @Nullable HostReader host;
    private final @Nullable MetricsScraper metrics;
    private volatile boolean closing;
    private volatile String status = "";

    private static final class Publisher {
        final ZMQ.Socket subscriber;
        final ZMQ.@Nullable Socket replay;
        final KvMessages messages;
        long askedNanos;

        Publisher(ZMQ.Socket subscriber, ZMQ.@Nullable Socket replay, KvMessages messages) {
            this.subscriber = subscriber;
            this.replay = replay;
            this.messages = messages;
        }
    }

    /**
     * Starts to collect.
     *
     * @throws IllegalArgumentException when an address cannot be bound or connected to
     */
    public VllmCollector(VllmSettings settings, EventOut out) {
        this.settings = settings;
        this.host = settings.hostEvery() == null
                ? null
                : new HostReader(settings.collectorName() + "-host", settings.hostEvery(), out);
        boolean joinsEvictions = !settings.kvEvents().isEmpty();
        this.probes = new ProbeSources(
                settings.collectorName(),
                settings.engineName(),
                out,
                rank -> joinsEvictions ? evictions.computeIfAbsent(rank, unused -> new KvEvictionReasons()) : null,
                process -> {
                    if (host != null) {
                        host.observe(process);
                    }
                });
        try {
            this.probe = settings.probe() == null ? null : bindProbe(settings.probe());
            for (int i = 0; i < settings.kvEvents().size(); i++) {
                publishers.add(publisher(i, out));
            }
        } catch (ZMQException | IllegalArgumentException unusable) {
            context.close();
            throw new IllegalArgumentException("Cannot use an address: " + unusable.getMessage(), unusable);
        }
        this.metrics = settings.metrics() == null
                ? null
                : new MetricsScraper(
                        settings.metrics(), settings.metricsEvery(), settings.collectorName() + "-metrics", out);
        this.reader = new Thread(this::read, "tokenstair-vllm");
        reader.setDaemon(true);
        reader.start();
    }

    private ZMQ.Socket bindProbe(String address) {
        ZMQ.Socket socket = context.createSocket(SocketType.PULL);
        socket.setRcvHWM(RECEIVE_QUEUE_MESSAGES);
        socket.setMaxMsgSize(MAX_MESSAGE_BYTES);
        if (!socket.bind(address)) {
            throw new IllegalArgumentException(address);
        }
        return socket;
    }

    private Publisher publisher(int index, EventOut out) {
        String address = settings.kvEvents().get(index);
        ZMQ.Socket subscriber = context.createSocket(SocketType.SUB);
        subscriber.setRcvHWM(0);
        subscriber.setMaxMsgSize(MAX_MESSAGE_BYTES);
        subscriber.subscribe(settings.kvTopic().getBytes(StandardCharsets.UTF_8));
        subscriber.connect(address);
        ZMQ.Socket replay = null;
        if (!settings.kvReplay().isEmpty()) {
            replay = context.createSocket(SocketType.DEALER);
            replay.setMaxMsgSize(MAX_MESSAGE_BYTES);
            replay.setLinger(0);
            replay.connect(settings.kvReplay().get(index));
        }
        KvMessages messages = new KvMessages(
                address,
                settings.engineName(),
                settings.collectorName() + "-kv/" + index,
                HostClocks.elapsedId(),
                out,
                evictions::get);
        return new Publisher(subscriber, replay, messages);
    }

    private void read() {
        ZMQ.Poller poller = context.createPoller(1 + 2 * publishers.size());
        if (probe != null) {
            poller.register(probe, ZMQ.Poller.POLLIN);
        }
        for (Publisher publisher : publishers) {
            poller.register(publisher.subscriber, ZMQ.Poller.POLLIN);
            if (publisher.replay != null) {
                poller.register(publisher.replay, ZMQ.Poller.POLLIN);
            }
        }
        try {
            while (!closing) {
                poller.poll(POLL_MILLIS);
                long now = ElapsedClock.system().elapsedNanos();
                if (probe != null) {
                    readProbe(probe);
                }
                for (Publisher publisher : publishers) {
                    readPublisher(publisher, now);
                }
                status = readSoFar();
            }
        } catch (ZMQException ended) {
            if (!closing) {
                throw ended;
            }
        } finally {
            long end = ElapsedClock.system().elapsedNanos() + KvMessages.MAX_WAIT_NANOS;
            for (Publisher publisher : publishers) {
                publisher.messages.settle(end);
            }
            status = readSoFar();
            poller.close();
        }
    }

    private void readProbe(ZMQ.Socket socket) {
        for (int i = 0; i < RECEIVE_QUEUE_MESSAGES; i++) {
            List<byte[]> frames = frames(socket);
            if (frames == null) {
                return;
            }
            if (frames.size() == 2) {
                probes.message(frames.get(0), frames.get(1));
            } else {
                probes.message(new byte[0], new byte[0]);
            }
        }
    }

    private void readPublisher(Publisher publisher, long now) {
        for (int i = 0; i < RECEIVE_QUEUE_MESSAGES; i++) {
            List<byte[]> frames = frames(publisher.subscriber);
            if (frames == null) {
                break;
            }
            publisher.messages.published(frames, now);
        }
        ZMQ.Socket replay = publisher.replay;
        if (replay != null) {
            for (List<byte[]> frames = frames(replay); frames != null; frames = frames(replay)) {
                publisher.askedNanos = now;
                if (publisher.messages.replayed(frames, now)) {
                    break;
                }
            }
            if (publisher.messages.isReplaying() && now - publisher.askedNanos > REPLAY_PATIENCE_NANOS) {
                publisher.messages.replayEnded(now);
            }
        }
        long wanted = publisher.messages.wanted(replay != null, now);
        if (wanted >= 0 && replay != null) {
            publisher.askedNanos = now;
            replay.sendMore(new byte[0]);
            replay.send(ByteBuffer.allocate(Long.BYTES).putLong(wanted).array(), ZMQ.DONTWAIT);
        }
        publisher.messages.settle(now);
    }

    /** All frames of a message that has come; null when none has. */
    private static @Nullable List<byte[]> frames(ZMQ.Socket socket) {
        byte[] frame = socket.recv(ZMQ.DONTWAIT);
        if (frame == null) {
            return null;
        }
        List<byte[]> frames = new ArrayList<>(4);
        frames.add(frame);
        while (socket.hasReceiveMore()) {
            byte[] more = socket.recv();
            if (more == null) {
                break;
            }
            if (frames.size() < 8) {
                frames.add(more);
            }
        }
        return frames;
    }

    /** What was read so far, in one line. */
    public String status() {
        return status;
    }

    private String readSoFar() {
        long messages = 0;
        long lost = 0;
        long rejected = 0;
        for (Publisher publisher : publishers) {
            long[] counts = publisher.messages.counts();
            messages += counts[0];
            lost += counts[1];
            rejected += counts[2];
        }
        ProbeSources.Counts probed = probes.counts();
        return "probe records " + probed.recordCount() + ", lost " + probed.lostCount() + ", rejected "
                + probed.rejectedCount() + "; KV messages " + messages + ", lost " + lost + ", rejected " + rejected;
    }

    @Override
    public void close() {
        closing = true;
        boolean interrupted = false;
        try {
            reader.join(5_000);
        } catch (InterruptedException stopped) {
            interrupted = true;
        }
        if (host != null) {
            host.close();
        }
        if (metrics != null) {
            metrics.close();
        }
        context.close();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
