package io.tokenstair.job.name;

import io.tokenstair.archive.ArchiveLayout;
import io.tokenstair.archive.RawTableReader;
import io.tokenstair.event.Event;
import io.tokenstair.event.EventKind;
import io.tokenstair.event.IdAliased;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.RequestQueued;
import io.tokenstair.event.RequestReceived;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.event.wire.WireException;
import io.tokenstair.job.request.RequestInput;
import io.tokenstair.job.step.EngineRequestName;
import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Which names that engines and gateways use mean a request that a client named otherwise: docs/requests.md. An archive holds all names
 * there are, so replay can know them before it begins. A name is joined with a client's request when it is one of that request's
 * aliases, or shares an alias with it, and with no other's. State: the names that are joined, at most {@value #MOST_NAMES}.
 */
public final class JoinedNames implements Serializable {
    private static final long serialVersionUID = 1L;

    /** Most names that are joined; the rest keep their own. */
    static final int MOST_NAMES = 1 << 20;

    private static final String CLIENT = "client";

    /** More than one request could be meant. */
    private static final Owner SEVERAL = new Owner("", 0);

    private final TreeMap<String, Owner> ownerByName;

    /**
     * The request that a name means.
     *
     * @param requestId the client's own id
     * @param coarseEpochMillis when it was sent, which dates what an undated record says of it; {@link Long#MAX_VALUE} when that is not known
     */
    private record Owner(String requestId, long coarseEpochMillis) implements Serializable {}

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

    /** Gives an input to the request that its name means. */
    public RequestInput join(RequestInput input) {
        Owner owner = ownerByName.get(input.requestId);
        return owner == null ? input : input.renamed(owner.requestId(), owner.coarseEpochMillis());
    }

    /** The names that the raw tables of an archive join; none where a running job wrote them, which could not know names to come. */
    public static JoinedNames of(Path archive) throws IOException {
        Gathered gathered = new Gathered();
        if (ArchiveLayout.isWrittenByRun(archive)
                || ArchiveLayout.files(archive, EventKind.ID_ALIASED.wireName()).isEmpty()) {
            return none();
        }
        read(archive, EventKind.REQUEST_RECEIVED, gathered);
        if (gathered.sentMillisByClient.isEmpty()) {
            return none();
        }
        read(archive, EventKind.REQUEST_QUEUED, gathered);
        if (gathered.others.isEmpty()) {
            return none();
        }
        gathered.others.removeAll(gathered.sentMillisByClient.keySet());
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
        private final Map<String, Long> sentMillisByClient = new HashMap<>();
        /** Names of engines and gateways that no client uses. */
        private final Set<String> others = new HashSet<>();

        private final Map<String, Owner> ownerByAlias = new HashMap<>();
        private final Map<String, Set<String>> aliasesByOther = new HashMap<>();

        void take(Event event, @Nullable Long coarseEpochMillis) {
            if (event instanceof RequestReceived received) {
                if (received.observer().equals(CLIENT)) {
                    sentMillisByClient.merge(
                            received.requestId(),
                            coarseEpochMillis == null ? Long.MAX_VALUE : coarseEpochMillis,
                            Math::min);
                } else if (others.size() < MOST_NAMES) {
                    others.add(received.requestId());
                }
            } else if (event instanceof RequestQueued queued && others.size() < MOST_NAMES) {
                others.add(EngineRequestName.of(queued.engineRequestId()).requestId());
            } else if (event instanceof IdAliased aliased) {
                alias(aliased);
            }
        }

        private void alias(IdAliased aliased) {
            Long sent = sentMillisByClient.get(aliased.requestId());
            if (sent != null) {
                Owner owner = new Owner(aliased.requestId(), sent);
                ownerByAlias.merge(aliased.alias(), owner, Gathered::one);
            } else if (others.contains(aliased.requestId())) {
                aliasesByOther
                        .computeIfAbsent(aliased.requestId(), id -> new HashSet<>())
                        .add(aliased.alias());
            }
        }

        private static Owner one(Owner owner, Owner other) {
            return owner.requestId().equals(other.requestId()) ? owner : SEVERAL;
        }

        JoinedNames joined() {
            TreeMap<String, Owner> joined = new TreeMap<>();
            for (String name : others) {
                Owner owner = ownerByAlias.get(name);
                for (String alias : aliasesByOther.getOrDefault(name, Set.of())) {
                    Owner byAlias = ownerByAlias.get(alias);
                    Long sent = sentMillisByClient.get(alias);
                    // The other side may state the client's own id as its alias.
                    byAlias = byAlias == null && sent != null ? new Owner(alias, sent) : byAlias;
                    owner = byAlias == null ? owner : owner == null ? byAlias : one(owner, byAlias);
                }
                if (owner != null && owner != SEVERAL) {
                    joined.put(name, owner);
                }
            }
            return new JoinedNames(joined);
        }
    }
}
