package io.tokenstair.job.request;

import io.tokenstair.job.step.SequenceFact;
import io.tokenstair.job.step.SequenceName;
import io.tokenstair.job.step.TokenBatch;
import org.jspecify.annotations.Nullable;

/**
 * Which use of a request id something belongs to: docs/requests.md. Uses that overlap and that nothing tells apart are never
 * merged: what could belong to either is dropped and counted.
 */
final class Lifetimes {
    /** Most sequences of one use of an id, and most choices of a prompt. */
    static final int MAX_SEQUENCES = 1_024;

    private static final int MAX_PROMPT_INDEX = 1 << 20;

    private final RequestState state;

    Lifetimes(RequestState state) {
        this.state = state;
    }

    /** A use of the id that begins. */
    LifetimeState newLifetime() {
        LifetimeState lifetime = new LifetimeState();
        lifetime.ordinal = state.lifetimesSoFar++;
        state.open.add(lifetime);
        return lifetime;
    }

    private LifetimeState of(SequenceName name) {
        LifetimeState known = known(name);
        return known != null ? known : fresh(name);
    }

    /** The use of the id that tokens belong to. Two engines that both make more than the first token are two attempts. */
    LifetimeState of(TokenBatch batch) {
        LifetimeState lifetime = of(batch.name);
        SequenceLife sequence = existing(lifetime, batch.name);
        if (sequence == null || lifetime.enginesOverlap) {
            return lifetime;
        }
        int engine = sequence.engines.indexOf(batch.name.engineId);
        boolean another = engine >= 0
                && sequence.makingEngine >= 0
                && sequence.makingEngine != engine
                && sequence.nextTokenIndex > 1
                && (batch.count > 1 || batch.firstTokenIndex() > 0);
        if (!another) {
            return lifetime;
        }
        LifetimeState attempt = with(newLifetime(), batch.name);
        SequenceLife moved = made(attempt, batch.name.promptIndex, batch.name.choice);
        moved.promptTokens = sequence.promptTokens;
        moved.priority = sequence.priority;
        moved.engines.add(batch.name.engineId);
        moved.finishedEngines = sequence.finishedOn(engine) ? 1 : 0;
        sequence.remove(engine);
        return attempt;
    }

    /** The use of the id that a fact belongs to. */
    LifetimeState of(SequenceFact fact) {
        return switch (fact.kind) {
            case QUEUED -> queued(fact);
            case FINISHED -> finished(fact.name);
            default -> of(fact.name);
        };
    }

    /** The last use that knows the name, of those that its engine has a part in, else of all. */
    private @Nullable LifetimeState known(SequenceName name) {
        for (int i = state.open.size() - 1; i >= 0; i--) {
            LifetimeState lifetime = state.open.get(i);
            if (knows(lifetime, name)) {
                SequenceLife sequence = existing(lifetime, name);
                if (sequence != null && sequence.engines.contains(name.engineId)) {
                    return lifetime;
                }
            }
        }
        for (int i = state.open.size() - 1; i >= 0; i--) {
            if (knows(state.open.get(i), name)) {
                return state.open.get(i);
            }
        }
        return null;
    }

    /** Of uses whose name at the engine is the same, the one that began first ends first: it makes no difference, both are incomplete. */
    private LifetimeState finished(SequenceName name) {
        for (LifetimeState lifetime : state.open) {
            if (lifetime.enginesOverlap && knows(lifetime, name)) {
                SequenceLife sequence = existing(lifetime, name);
                int engine = sequence == null ? -1 : sequence.engines.indexOf(name.engineId);
                if (sequence != null && engine >= 0 && !sequence.finishedOn(engine)) {
                    return lifetime;
                }
            }
        }
        return of(name);
    }

    private LifetimeState queued(SequenceFact fact) {
        LifetimeState known = known(fact.name);
        SequenceLife sequence = known == null ? null : existing(known, fact.name);
        if (known == null || sequence == null) {
            return known != null ? known : fresh(fact.name);
        }
        int engine = sequence.engines.indexOf(fact.name.engineId);
        if (engine < 0) {
            LifetimeState waiting = waiting(fact.name, false);
            return waiting != null
                    ? with(waiting, fact.name)
                    : isPair(sequence, fact.name) ? known : with(newLifetime(), fact.name);
        }
        if (sequence.finishedOn(engine)) {
            // Not every engine makes ids unique.
            return fresh(fact.name);
        }
        if (sequence.queuedNanos == null || sequence.queuedNanos == fact.clockNanos) {
            return known;
        }
        if (sequence.queuedSpace != 0 && sequence.queuedSpace != space(fact)) {
            // Who records the engine began anew in between, most often with the engine: what ran then has ended unseen.
            sequence.finishedEngines |= 1 << engine;
            known.enginesOverlap = true;
            return fresh(fact.name);
        }
        LifetimeState another = with(newLifetime(), fact.name);
        known.enginesOverlap = true;
        another.enginesOverlap = true;
        return another;
    }

    /** Stands for the collector, and its start, that told of a fact. */
    static int space(SequenceFact fact) {
        return fact.eventId
                .substring(0, Math.max(0, fact.eventId.lastIndexOf('/')))
                .hashCode();
    }

    /** The use that a name nobody knows belongs to: one that waits for its engine, one that is handed on, else a new one. */
    private LifetimeState fresh(SequenceName name) {
        LifetimeState waiting = waiting(name, false);
        if (waiting != null) {
            return with(waiting, name);
        }
        for (int i = state.open.size() - 1; i >= 0; i--) {
            SequenceLife sequence = existing(state.open.get(i), name);
            if (sequence != null && isPair(sequence, name)) {
                return with(state.open.get(i), name);
            }
        }
        LifetimeState failed = waiting(name, true);
        return with(failed != null ? failed : newLifetime(), name);
    }

    /** The first use that has no engine for this prompt yet. */
    private @Nullable LifetimeState waiting(SequenceName name, boolean evenFailed) {
        for (LifetimeState lifetime : state.open) {
            boolean taken = !evenFailed && lifetime.failedWithoutToken();
            for (SequenceLife sequence : lifetime.sequences) {
                taken |= sequence.fromEngine && sequence.promptIndex == name.promptIndex;
            }
            if (!taken) {
                return lifetime;
            }
        }
        return null;
    }

    /**
     * Whether another engine goes on with what one began: the first made the first token at most, as the prefill engine of a
     * disaggregated pair does. An engine that made more was another attempt.
     */
    private static boolean isPair(SequenceLife sequence, SequenceName name) {
        return sequence.fromEngine
                && sequence.nextTokenIndex <= 1
                && !sequence.engines.contains(name.engineId)
                && !"aborted-by-client".equals(sequence.endReason)
                && !"error".equals(sequence.endReason);
    }

    private static LifetimeState with(LifetimeState lifetime, SequenceName name) {
        if (!knows(lifetime, name) && lifetime.uniques.size() < MAX_SEQUENCES) {
            lifetime.uniques.add(name.promptIndex + ":" + name.unique);
        }
        return lifetime;
    }

    private static boolean knows(LifetimeState lifetime, SequenceName name) {
        for (String known : lifetime.uniques) {
            if (isUnique(known, name)) {
                return true;
            }
        }
        return false;
    }

    /** Whether this is the unique part of a name behind its prompt index and a colon; asked per batch, so without making a text. */
    private static boolean isUnique(String known, SequenceName name) {
        int colon = known.length() - name.unique.length() - 1;
        if (colon < 1 || known.charAt(colon) != ':' || !known.endsWith(name.unique)) {
            return false;
        }
        return name.promptIndex < 10
                ? colon == 1 && known.charAt(0) == '0' + name.promptIndex
                : known.substring(0, colon).equals(Integer.toString(name.promptIndex));
    }

    private static @Nullable SequenceLife existing(LifetimeState lifetime, SequenceName name) {
        for (SequenceLife sequence : lifetime.sequences) {
            if (sequence.promptIndex == name.promptIndex && sequence.choice == name.choice) {
                return sequence;
            }
        }
        return null;
    }

    /** The sequence of a lifetime, made where it is new; null where there are too many already, or it cannot be. */
    static @Nullable SequenceLife sequence(LifetimeState lifetime, int promptIndex, int choice) {
        for (SequenceLife sequence : lifetime.sequences) {
            if (sequence.promptIndex == promptIndex && sequence.choice == choice) {
                return sequence;
            }
        }
        return promptIndex >= MAX_PROMPT_INDEX || choice >= MAX_SEQUENCES || lifetime.sequences.size() >= MAX_SEQUENCES
                ? null
                : made(lifetime, promptIndex, choice);
    }

    /** The sequence that counts what belongs to none. */
    static SequenceLife counting(LifetimeState lifetime) {
        return lifetime.sequences.isEmpty() ? made(lifetime, 0, 0) : lifetime.sequences.get(0);
    }

    private static SequenceLife made(LifetimeState lifetime, int promptIndex, int choice) {
        SequenceLife sequence = new SequenceLife();
        sequence.promptIndex = promptIndex;
        sequence.choice = choice;
        lifetime.sequences.add(sequence);
        return sequence;
    }

    /** How many choices a prompt can have where a request asked for so many. */
    static int choices(int asked) {
        return Math.max(1, Math.min(asked, MAX_SEQUENCES));
    }

    /** promptIndex x n + choice; n as asked for, else by the choices seen. */
    static int sequenceIndex(LifetimeState lifetime, SequenceLife sequence) {
        int choices = lifetime.choicesCount == null ? 1 : choices(lifetime.choicesCount);
        if (lifetime.choicesCount == null) {
            for (SequenceLife other : lifetime.sequences) {
                choices = Math.max(choices, other.choice + 1);
            }
        }
        return sequence.promptIndex * choices + sequence.choice;
    }

    // ---- observers

    /** The use that an observer begins to see. */
    LifetimeState received(String observer) {
        for (LifetimeState candidate : state.open) {
            if (candidate.stream(observer) == null) {
                return candidate;
            }
        }
        LifetimeState another = newLifetime();
        for (LifetimeState other : state.open) {
            ObserverStream stream = other.stream(observer);
            if (stream != null && !stream.completed && !allFinished(other)) {
                other.observersOverlap = true;
                another.observersOverlap = true;
            }
        }
        return another;
    }

    private static boolean allFinished(LifetimeState lifetime) {
        boolean finished = !lifetime.sequences.isEmpty();
        for (SequenceLife sequence : lifetime.sequences) {
            finished &= sequence.finished();
        }
        return finished;
    }

    /** The use that an observer goes on seeing; null before it saw any. Uses that end are completed in the order they began. */
    @Nullable
    LifetimeState observing(String observer, String collectorId, long collectorEpoch) {
        LifetimeState byObserver = null;
        for (LifetimeState lifetime : state.open) {
            ObserverStream stream = lifetime.stream(observer);
            if (stream != null && !stream.completed) {
                if (stream.collectorEpoch == collectorEpoch && stream.collectorId.equals(collectorId)) {
                    return lifetime;
                }
                byObserver = byObserver == null ? lifetime : byObserver;
            }
        }
        if (byObserver != null) {
            return byObserver;
        }
        for (LifetimeState lifetime : state.open) {
            if (lifetime.stream(observer) != null) {
                return lifetime;
            }
        }
        return null;
    }
}
