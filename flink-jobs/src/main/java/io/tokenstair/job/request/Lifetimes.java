package io.tokenstair.job.request;

import io.tokenstair.job.step.SequenceName;

/** Which use of a request id something belongs to. */
final class Lifetimes {
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

    /**
     * The use of the id that an engine's name belongs to: the last one that knows its unique part, else the first without that
     * sequence. A sequence that begins where one of its name has finished belongs to another use: not every engine makes ids unique.
     */
    LifetimeState of(SequenceName name, boolean begins) {
        for (int i = state.open.size() - 1; i >= 0; i--) {
            LifetimeState lifetime = state.open.get(i);
            if (knows(lifetime, name)) {
                if (begins && hasFinished(lifetime, name)) {
                    break;
                }
                return lifetime;
            }
        }
        String unique = name.promptIndex + ":" + name.unique;
        for (LifetimeState lifetime : state.open) {
            boolean taken = false;
            for (SequenceLife sequence : lifetime.sequences) {
                taken |= sequence.fromEngine && sequence.promptIndex == name.promptIndex;
            }
            if (!taken) {
                lifetime.uniques.add(unique);
                return lifetime;
            }
        }
        LifetimeState lifetime = newLifetime();
        lifetime.uniques.add(unique);
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

    private static boolean hasFinished(LifetimeState lifetime, SequenceName name) {
        for (SequenceLife sequence : lifetime.sequences) {
            if (sequence.promptIndex == name.promptIndex && sequence.choice == name.choice) {
                return sequence.finished;
            }
        }
        return false;
    }

    /** The sequence of a lifetime, made where it is new. */
    static SequenceLife sequence(LifetimeState lifetime, int promptIndex, int choice) {
        for (SequenceLife sequence : lifetime.sequences) {
            if (sequence.promptIndex == promptIndex && sequence.choice == choice) {
                return sequence;
            }
        }
        SequenceLife sequence = new SequenceLife();
        sequence.promptIndex = promptIndex;
        sequence.choice = choice;
        lifetime.sequences.add(sequence);
        return sequence;
    }

    /** promptIndex x n + choice; n as asked for, else by the choices seen. */
    static int sequenceIndex(LifetimeState lifetime, SequenceLife sequence) {
        int choices = lifetime.choicesCount == null ? 1 : Math.max(1, lifetime.choicesCount);
        if (lifetime.choicesCount == null) {
            for (SequenceLife other : lifetime.sequences) {
                choices = Math.max(choices, other.choice + 1);
            }
        }
        return sequence.promptIndex * choices + sequence.choice;
    }
}
