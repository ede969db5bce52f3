package io.tokenstair.job.history;

/** Something an engine went through. */
public class Note {
    public int kindOrdinal;
    /** The engine's count of steps then. */
    public long step;
    /** Stamp of the engine's clock. */
    public long stampNanos;

    public String eventId = "";
    public String requestId = "";
    /** Tokens, blocks or sequences, by kind. */
    public long amount;

    public long otherAmount;
    /** Of a request that joined: how long it had been queued, where that is more than two usual steps; else 0. */
    public long waitedNanos;

    /** Graph modes or kernels, before and after. */
    public String modeBefore = "";

    public String mode = "";

    /** For Flink's serializer. */
    public Note() {}

    /** What it is. */
    public NoteKind kind() {
        return NoteKind.values()[kindOrdinal];
    }
}
