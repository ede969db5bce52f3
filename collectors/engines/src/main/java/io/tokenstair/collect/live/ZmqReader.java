package io.tokenstair.collect.live;

import io.tokenstair.clock.ElapsedClock;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
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
 * One thread that reads all ZeroMQ sockets of a collector, so that what it feeds needs no lock. Sockets are added, then it is started. It
 * only ever listens: a publisher's messages are never held up, and what it cannot keep ZeroMQ drops, which shows as a missing number.
 */
public final class ZmqReader implements Closeable {
    private static final String IPC = "ipc://";
    /** How long a look waits for messages where publishers are followed: what they are asked for again, and what is settled, has its time. */
    private static final int POLL_MILLIS = 50;

    /** How long it waits where none are. A look at nothing takes as much as a message; who ends the reader waits for one. */
    private static final int REST_MILLIS = 250;

    private static final long REPLAY_PATIENCE_NANOS = 5_000_000_000L;
    private static final int RECEIVE_QUEUE_MESSAGES = 4_096;
    private static final int MAX_FRAMES = 8;
    /** A peer that does not say who it is by then is tried again. */
    private static final int HANDSHAKE_MILLIS = 2_000;

    private static final long MAX_MESSAGE_BYTES = 64L << 20;

    private final String threadName;
    private final ZContext context = new ZContext(1);
    private final List<IpcBridge> bridges = new ArrayList<>();
    private final Map<String, String> byIpc = new HashMap<>();
    private final List<Heard> heard = new ArrayList<>();
    private final List<Publisher> publishers = new ArrayList<>();
    private final List<Turn> turns = new ArrayList<>();
    private volatile boolean closing;
    private volatile @Nullable Thread thread;

    /** Takes what came. */
    public interface Messages {
        /**
         * Takes the frames of a message; called by the reader's thread only.
         *
         * @param frames at least one, at most {@value #MAX_FRAMES}
         * @param nowNanos when it was read, by this machine's monotonic clock
         */
        void message(List<byte[]> frames, long nowNanos);
    }

    /** Called by the reader's thread after each look at the sockets, and once when it ends. */
    public interface Turn {
        /** All that has come was taken. */
        void ended();
    }

    private record Heard(ZMQ.Socket socket, Messages messages) {}

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

    /** A reader whose thread has this name. */
    public ZmqReader(String threadName) {
        this.threadName = threadName;
    }

    /**
     * Lets others send here.
     *
     * @throws IllegalArgumentException when the address cannot be bound
     */
    public void bind(String address, Messages messages) {
        try {
            ZMQ.Socket socket = context.createSocket(SocketType.PULL);
            socket.setRcvHWM(RECEIVE_QUEUE_MESSAGES);
            socket.setMaxMsgSize(MAX_MESSAGE_BYTES);
            socket.setHandshakeIvl(HANDSHAKE_MILLIS);
            if (!socket.bind(address)) {
                throw new IllegalArgumentException(address);
            }
            heard.add(new Heard(socket, messages));
        } catch (ZMQException | IllegalArgumentException unusable) {
            throw unusable(address, unusable);
        }
    }

    /**
     * Subscribes to a publisher; where it is away it is connected to again and again, ever more rarely.
     *
     * @param topic only messages whose topic begins so
     * @throws IllegalArgumentException when the address is none
     */
    public void subscribe(String address, String topic, Messages messages) {
        subscription(topic, messages).connect(address);
    }

    /** A subscription to any number of publishers. */
    public Subscription subscription(String topic, Messages messages) {
        ZMQ.Socket socket = subscriber(topic);
        heard.add(new Heard(socket, messages));
        return new Subscription(socket);
    }

    /** Publishers that are heard as one; changed before the reader starts, or by a {@link Turn}. */
    public final class Subscription {
        private final ZMQ.Socket socket;

        private Subscription(ZMQ.Socket socket) {
            this.socket = socket;
        }

        /**
         * Hears a publisher too.
         *
         * @throws IllegalArgumentException when the address is none
         */
        public void connect(String address) {
            try {
                socket.connect(reachable(address));
            } catch (ZMQException | IllegalArgumentException | IOException unusable) {
                throw unusable(address, unusable);
            }
        }

        /** Hears a publisher no more. */
        public void disconnect(String address) {
            socket.disconnect(byIpc.getOrDefault(address, address));
        }
    }

    /**
     * Subscribes to a publisher of KV events.
     *
     * @param replay where missed messages can be had again; absent when nowhere
     * @throws IllegalArgumentException when an address is none
     */
    public void kvEvents(String address, @Nullable String replay, String topic, KvMessages messages) {
        ZMQ.Socket subscriber = subscriber(topic);
        new Subscription(subscriber).connect(address);
        ZMQ.Socket dealer = null;
        if (replay != null) {
            try {
                dealer = context.createSocket(SocketType.DEALER);
                dealer.setMaxMsgSize(MAX_MESSAGE_BYTES);
                dealer.setHandshakeIvl(HANDSHAKE_MILLIS);
                dealer.setLinger(0);
                dealer.connect(reachable(replay));
            } catch (ZMQException | IllegalArgumentException | IOException unusable) {
                throw unusable(replay, unusable);
            }
        }
        publishers.add(new Publisher(subscriber, dealer, messages));
    }

    /** Where an address can be connected to: a socket of the file system by way of a port. */
    private String reachable(String address) throws IOException {
        if (!address.startsWith(IPC)) {
            return address;
        }
        String known = byIpc.get(address);
        if (known == null) {
            IpcBridge bridge = new IpcBridge(Path.of(address.substring(IPC.length())));
            bridges.add(bridge);
            known = bridge.address();
            byIpc.put(address, known);
        }
        return known;
    }

    private ZMQ.Socket subscriber(String topic) {
        ZMQ.Socket subscriber = context.createSocket(SocketType.SUB);
        subscriber.setRcvHWM(0);
        subscriber.setMaxMsgSize(MAX_MESSAGE_BYTES);
        subscriber.setHandshakeIvl(HANDSHAKE_MILLIS);
        subscriber.setReconnectIVLMax(2_000);
        subscriber.subscribe(topic.getBytes(StandardCharsets.UTF_8));
        return subscriber;
    }

    private IllegalArgumentException unusable(String address, Exception why) {
        if (thread == null) {
            context.close();
        }
        return new IllegalArgumentException("Cannot use an address: " + address + ": " + why.getMessage(), why);
    }

    /** Has this called after each look at the sockets. */
    public void afterEachTurn(Turn turn) {
        turns.add(turn);
    }

    /** Starts to read. Nothing may be added afterwards. */
    public void start() {
        Thread reader = new Thread(this::read, threadName);
        reader.setDaemon(true);
        thread = reader;
        reader.start();
    }

    private void read() {
        ZMQ.Poller poller = context.createPoller(heard.size() + 2 * publishers.size());
        heard.forEach(one -> poller.register(one.socket(), ZMQ.Poller.POLLIN));
        for (Publisher publisher : publishers) {
            poller.register(publisher.subscriber, ZMQ.Poller.POLLIN);
            if (publisher.replay != null) {
                poller.register(publisher.replay, ZMQ.Poller.POLLIN);
            }
        }
        try {
            while (!closing) {
                poller.poll(publishers.isEmpty() ? REST_MILLIS : POLL_MILLIS);
                long now = ElapsedClock.system().elapsedNanos();
                for (Heard one : heard) {
                    take(one.socket(), one.messages(), now);
                }
                for (Publisher publisher : publishers) {
                    readPublisher(publisher, now);
                }
                turns.forEach(Turn::ended);
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
            turns.forEach(Turn::ended);
            poller.close();
        }
    }

    private static void take(ZMQ.Socket socket, Messages messages, long now) {
        for (int i = 0; i < RECEIVE_QUEUE_MESSAGES; i++) {
            List<byte[]> frames = frames(socket);
            if (frames == null) {
                return;
            }
            messages.message(frames, now);
        }
    }

    private static void readPublisher(Publisher publisher, long now) {
        take(publisher.subscriber, publisher.messages::published, now);
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
            if (frames.size() < MAX_FRAMES) {
                frames.add(more);
            }
        }
        return frames;
    }

    /** KV messages read, lost and rejected so far, of all publishers; the reader's thread only. */
    public long[] kvCounts() {
        long[] counts = new long[3];
        for (Publisher publisher : publishers) {
            long[] own = publisher.messages.counts();
            for (int i = 0; i < counts.length; i++) {
                counts[i] += own[i];
            }
        }
        return counts;
    }

    /** Ends the thread: what has come is taken, nothing more. */
    @Override
    public void close() {
        closing = true;
        boolean interrupted = false;
        Thread reader = thread;
        try {
            if (reader != null) {
                reader.join(5_000);
            }
        } catch (InterruptedException stopped) {
            interrupted = true;
        }
        bridges.forEach(IpcBridge::close);
        context.close();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
