package io.tokenstair.job.history;

import io.tokenstair.cause.Cause;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The last {@value #NOTES} notable things of an engine, oldest first. A chain walks back from a cause to the nearest thing of a kind
 * that may lead to it, at most {@value #LOOK_BACK_STEPS} steps a hop and {@value #HOPS} hops.
 */
public class EngineHistory {
    static final int NOTES = 64;
    static final int LOOK_BACK_STEPS = 64;
    static final int HOPS = 4;

    /** A prompt this share of what is resident is a jump. */
    private static final double JUMP_SHARE = 0.25;

    /** A prompt shorter than this many blocks is none, however little is resident. */
    private static final int JUMP_BLOCKS = 16;

    /** Fewer evicted blocks than this are everyday. */
    private static final int BULK_BLOCKS = 8;

    /** Steps within which evictions are one. */
    private static final int SAME_STEPS = 2;

    /** The batch swings when it has gone up and down by this factor within the look-back. */
    private static final double SWING = 1.5;

    public List<Note> notes = new ArrayList<>();
    public String lastMode = "";
    /** The last step that ran another kernel than usual. */
    public long kernelChangedStep;

    public boolean evictedInBulk;
    /** The last step in which blocks were evicted in bulk. */
    public long bulkEvictedStep;

    public int swingLeast;
    public int swingMost;
    public long swingSinceStep;
    public boolean swingUp;

    /** For Flink's serializer. */
    public EngineHistory() {}

    private Note add(NoteKind kind, long step, long stampNanos, String eventId) {
        Note note = new Note();
        note.kindOrdinal = kind.ordinal();
        note.step = step;
        note.stampNanos = stampNanos;
        note.eventId = eventId;
        notes.add(note);
        if (notes.size() > NOTES) {
            notes.remove(0);
        }
        return note;
    }

    /** A request is scheduled for the first time. */
    public void joined(
            long step,
            long stampNanos,
            String eventId,
            String requestId,
            long promptTokens,
            long residentTokens,
            int blockTokens,
            long waitedNanos) {
        if (promptTokens >= JUMP_SHARE * residentTokens
                && promptTokens >= (long) JUMP_BLOCKS * Math.max(1, blockTokens)) {
            Note note = add(NoteKind.CONTEXT_JUMPED, step, stampNanos, eventId);
            note.requestId = requestId;
            note.amount = promptTokens;
            note.otherAmount = residentTokens;
            note.waitedNanos = waitedNanos;
        }
    }

    /** Cached blocks were evicted. True when that is the first time in bulk after none were in the look-back. */
    public boolean evicted(long step, long stampNanos, String eventId, int blocks) {
        Note last = last(NoteKind.EVICTED);
        if (last != null && step - last.step <= SAME_STEPS) {
            last.amount += blocks;
            return isBulk(last);
        }
        Note note = add(NoteKind.EVICTED, step, stampNanos, eventId);
        note.amount = blocks;
        return isBulk(note);
    }

    private boolean isBulk(Note note) {
        if (note.amount < BULK_BLOCKS) {
            return false;
        }
        boolean first = !evictedInBulk || note.step - bulkEvictedStep > LOOK_BACK_STEPS;
        evictedInBulk = true;
        bulkEvictedStep = note.step;
        return first;
    }

    /** A sequence lost its blocks. */
    public void preempted(long step, long stampNanos, String eventId, String requestId) {
        add(NoteKind.PREEMPTED, step, stampNanos, eventId).requestId = requestId;
    }

    /** A decode step ran, in this mode where the engine says it. */
    public void decoded(long step, long stampNanos, String eventId, @Nullable String mode, int sequences) {
        if (mode != null) {
            if (mode.equals("eager") && !lastMode.isEmpty() && !lastMode.equals("eager")) {
                Note note = add(NoteKind.FELL_BACK, step, stampNanos, eventId);
                note.modeBefore = lastMode;
                note.mode = mode;
                note.amount = sequences;
            }
            lastMode = mode;
        }
        swing(step, stampNanos, eventId, sequences);
    }

    /** Another kernel ran instead of the usual one; told where it begins. */
    public void kernelChanged(long step, long stampNanos, String eventId, String usualName, String name) {
        Note last = last(NoteKind.KERNEL_CHANGED);
        boolean goesOn = last != null && last.mode.equals(name) && step - kernelChangedStep <= LOOK_BACK_STEPS;
        kernelChangedStep = step;
        if (!goesOn) {
            Note note = add(NoteKind.KERNEL_CHANGED, step, stampNanos, eventId);
            note.modeBefore = usualName;
            note.mode = name;
        }
    }

    private void swing(long step, long stampNanos, String eventId, int sequences) {
        if (swingMost == 0 || step - swingSinceStep > LOOK_BACK_STEPS) {
            swingLeast = sequences;
            swingMost = sequences;
            swingSinceStep = step;
            swingUp = false;
            return;
        }
        swingMost = Math.max(swingMost, sequences);
        swingLeast = Math.min(swingLeast, sequences);
        boolean wide = swingMost >= SWING * swingLeast && swingMost - swingLeast >= 2;
        if (!wide) {
            return;
        }
        boolean atTop = sequences >= swingMost;
        boolean atBottom = sequences <= swingLeast;
        if (atTop && !swingUp) {
            swingUp = true;
        } else if (atBottom && swingUp) {
            Note note = add(NoteKind.BATCH_SWUNG, step, stampNanos, eventId);
            note.amount = swingLeast;
            note.otherAmount = swingMost;
            swingMost = 0;
        }
    }

    private @Nullable Note last(NoteKind kind) {
        for (int i = notes.size() - 1; i >= 0; i--) {
            if (notes.get(i).kindOrdinal == kind.ordinal()) {
                return notes.get(i);
            }
        }
        return null;
    }

    /**
     * What came before a cause that shows at a step: nearest first. A preemption is told of the culprit only, however long ago it was:
     * a sequence may wait for its blocks for hundreds of steps.
     */
    public List<Note> before(Cause cause, @Nullable String culprit, long step) {
        List<Note> chain = new ArrayList<>();
        Set<NoteKind> wanted = NoteKind.before(cause);
        long at = step;
        while (chain.size() < HOPS && !wanted.isEmpty()) {
            Note nearest = null;
            for (int i = notes.size() - 1; i >= 0; i--) {
                Note note = notes.get(i);
                if (wanted.contains(note.kind())
                        && note.step <= at
                        && !chain.contains(note)
                        && tellsOf(note, culprit, at - note.step)) {
                    nearest = note;
                    break;
                }
            }
            if (nearest == null) {
                break;
            }
            chain.add(nearest);
            at = nearest.step;
            wanted = nearest.kind().before();
        }
        return chain;
    }

    private static boolean tellsOf(Note note, @Nullable String culprit, long stepsBefore) {
        return switch (note.kind()) {
            case PREEMPTED -> note.requestId.equals(culprit);
            case EVICTED -> note.amount >= BULK_BLOCKS && stepsBefore <= LOOK_BACK_STEPS;
            case CONTEXT_JUMPED, FELL_BACK, KERNEL_CHANGED, BATCH_SWUNG -> stepsBefore <= LOOK_BACK_STEPS;
        };
    }
}
