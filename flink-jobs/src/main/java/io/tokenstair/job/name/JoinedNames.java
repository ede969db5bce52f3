package io.tokenstair.job.name;

import io.tokenstair.archive.ArchiveLayout;
import io.tokenstair.archive.RawTableReader;
import io.tokenstair.event.ChunkDelivered;
import io.tokenstair.event.Event;
import io.tokenstair.event.EventKind;
import io.tokenstair.event.IdAliased;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.RequestCompleted;
import io.tokenstair.event.RequestQueued;
import io.tokenstair.event.RequestReceived;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.event.wire.WireException;
import io.tokenstair.foreign.LlamaCppNames;
import io.tokenstair.job.request.RequestInput;
import io.tokenstair.job.step.EngineRequestName;
import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Which names that engines and gateways use mean a request that a client named otherwise: docs/requests.md. An archive holds all names
 * there are, so replay can know them before it begins. A name is joined with a client's request when it is one of that request's
 * aliases, or shares an alias with it, and with no other's. Where no client reported, a gateway that read the answers' ids stands for it: those
 * are what everything behind it may be called. State: the names that are joined, at most {@value #MOST_NAMES}.
 */
public final class JoinedNames implements Serializable {
    private static final long serialVersionUID = 1L;

    /** Most names that are joined; the rest keep their own. */
    static final int MOST_NAMES = 1 << 20;

    private static final String CLIENT = "client";

    private static final String GATEWAY = "gateway";

    /** Origin of an alias that was read in an answer ({@link IdAliased#aliasOrigin}). */
    private static final String STREAM_ID = "stream-id";

    /** What servers of OpenAI's protocol put before their own id in an answer. */
    private static final List<String> ANSWER_PREFIXES = List.of("chatcmpl-", "cmpl-");

    /** More than one request could be meant. */
    private static final Owner SEVERAL = new Owner("", 0, false);

    private final TreeMap<String, Owner> ownerByName;

    /**
     * The request that a name means.
     *
     * @param requestId the client's own id
     * @param coarseEpochMillis when it was sent, which dates what an undated record says of it; {@link Long#MAX_VALUE} when that is not known
     * @param byGateway whether a gateway stands for the client
     */
    private record Owner(String requestId, long coarseEpochMillis, boolean byGateway) implements Serializable {}

    private JoinedNames(TreeMap<String, Owner> ownerByName) {
        this.ownerByName = ownerByName;
    }

    /** No names that are joined. */
    public static JoinedNames none() {
        return new JoinedNames(new TreeMap<>());
    }

    /** Whether no name is joined. */
    public boolean isEmpty() {
        return ownerByName.isEmpty();
    }

    /** The request that a name means: the name itself where nothing joins it. */
    public String requestId(String name) {
        Owner owner = ownerByName.get(name);
        return owner == null ? name : owner.requestId();
    }

    /**
     * Gives an input to the request that its name means; null for what a second gateway saw, behind the one that stands for the client: of one
     * stream only one gateway is told.
     */
    public @Nullable RequestInput join(RequestInput input) {
        Owner owner = ownerByName.get(input.requestId);
        if (owner == null) {
            return input;
        }
        return owner.byGateway() && input.event != null && isOfAnObserver(input.event)
                ? null
                : input.renamed(owner.requestId(), owner.coarseEpochMillis());
    }

    private static boolean isOfAnObserver(byte[] bytes) {
        try {
            Event event = EventCodec.decode(bytes).event();
            return event instanceof RequestReceived
                    || event instanceof ChunkDelivered
                    || event instanceof RequestCompleted;
        } catch (WireException e) {
            throw new IllegalStateException("Cannot read what was read before: " + e.getMessage(), e);
        }
    }

    /** The names that the raw tables of an archive join; none where a running job wrote them, which could not know names to come. */
    public static JoinedNames of(Path archive) throws IOException {
        Gathered gathered = new Gathered();
        if (ArchiveLayout.isWrittenByRun(archive)
                || ArchiveLayout.files(archive, EventKind.ID_ALIASED.wireName()).isEmpty()) {
            return none();
        }
        read(archive, EventKind.REQUEST_RECEIVED, gathered);
        if (gathered.clients.isEmpty() && gathered.receivedMillisByGateway.isEmpty()) {
            return none();
        }
        read(archive, EventKind.REQUEST_QUEUED, gathered);
        read(archive, EventKind.ID_ALIASED, gathered);
        return gathered.joined();
    }

    private static void read(Path archive, EventKind kind, Gathered gathered) throws IOException {
        for (Path file : ArchiveLayout.files(archive, kind.wireName())) {
            try (RawTableReader rows = RawTableReader.open(kind.wireName(), file)) {
                while (rows.hasNext()) {
                    LoggedEvent logged = EventCodec.decode(rows.next().wireBytes());
                    gathered.take(logged.event(), logged.header().coarseEpochMillis());
                }
            } catch (WireException e) {
                throw new IOException("Cannot read " + file + ": " + e.getMessage(), e);
            }
        }
    }

    /** What the tables say of names. */
    private static final class Gathered {
        private final Map<String, Long> clients = new HashMap<>();
        private final Map<String, Long> receivedMillisByGateway = new HashMap<>();
        /** Names that gateways and engines use. */
        private final Set<String> others = new HashSet<>();

        private final Map<String, Set<String>> aliases = new HashMap<>();
        private final Set<String> readInAnswers = new HashSet<>();
        /** Who states a name that is of work done, which two may have done alike: none of them then can be told by it. */
        private final Map<String, Set<String>> workNames = new HashMap<>();

        void take(Event event, @Nullable Long coarseEpochMillis) {
            if (event instanceof RequestReceived received) {
                long millis = coarseEpochMillis == null ? Long.MAX_VALUE : coarseEpochMillis;
                if (received.observer().equals(CLIENT)) {
                    clients.merge(received.requestId(), millis, Math::min);
                } else {
                    other(received.requestId());
                    if (received.observer().equals(GATEWAY)) {
                        receivedMillisByGateway.merge(received.requestId(), millis, Math::min);
                    }
                }
            } else if (event instanceof RequestQueued queued) {
                other(EngineRequestName.of(queued.engineRequestId()).requestId());
            } else if (event instanceof IdAliased aliased) {
                alias(aliased);
            }
        }

        private void other(String name) {
            if (others.size() < MOST_NAMES) {
                others.add(name);
            }
        }

        private void alias(IdAliased aliased) {
            String name = aliased.requestId();
            if (clients.containsKey(name) || others.contains(name)) {
                Set<String> all = aliases.computeIfAbsent(name, unused -> new HashSet<>());
                all.add(aliased.alias());
                if (aliased.aliasOrigin().equals(LlamaCppNames.ORIGIN)) {
                    readInAnswers.add(name);
                    workNames
                            .computeIfAbsent(aliased.alias(), unused -> new HashSet<>())
                            .add(name);
                }
                if (aliased.aliasOrigin().equals(STREAM_ID)) {
                    readInAnswers.add(name);
                    ANSWER_PREFIXES.stream()
                            .filter(aliased.alias()::startsWith)
                            .map(prefix -> aliased.alias().substring(prefix.length()))
                            .forEach(all::add);
                }
            }
        }

        private static Owner one(Owner owner, Owner other) {
            return owner.requestId().equals(other.requestId()) ? owner : SEVERAL;
        }

        JoinedNames joined() {
            TreeMap<String, Owner> joined = new TreeMap<>();
            others.removeAll(clients.keySet());
            join(clients, false, joined);
            Map<String, Long> gateways = new HashMap<>(receivedMillisByGateway);
            gateways.keySet().retainAll(readInAnswers);
            gateways.keySet().removeAll(clients.keySet());
            // What a client's request already has is settled, also where two could be meant.
            gateways.keySet().removeAll(joined.keySet());
            others.removeAll(joined.keySet());
            others.removeAll(gateways.keySet());
            join(gateways, true, joined);
            joined.values().removeIf(owner -> owner == SEVERAL);
            return new JoinedNames(joined);
        }

        /** Whether several tasks did this work. */
        private boolean isOfSeveral(String alias) {
            Set<String> stating = workNames.get(alias);
            return stating != null
                    && stating.size() > 1
                    && stating.stream().filter(others::contains).count() > 1;
        }

        /** Joins the other names with these requests. */
        private void join(Map<String, Long> sentMillis, boolean byGateway, Map<String, Owner> joined) {
            Map<String, Owner> ownerByAlias = new HashMap<>();
            sentMillis.forEach((id, millis) -> aliases.getOrDefault(id, Set.of())
                    .forEach(alias -> ownerByAlias.merge(alias, new Owner(id, millis, byGateway), Gathered::one)));
            for (String name : others) {
                Owner owner = ownerByAlias.get(name);
                for (String alias : aliases.getOrDefault(name, Set.of())) {
                    if (isOfSeveral(alias)) {
                        continue;
                    }
                    Owner byAlias = ownerByAlias.get(alias);
                    Long sent = sentMillis.get(alias);
                    // The other side may state the request's own id as its alias.
                    byAlias = byAlias == null && sent != null ? new Owner(alias, sent, byGateway) : byAlias;
                    owner = byAlias == null ? owner : owner == null ? byAlias : one(owner, byAlias);
                }
                if (owner != null) {
                    joined.put(name, owner);
                }
            }
        }
    }
}
