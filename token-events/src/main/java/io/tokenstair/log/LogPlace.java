package io.tokenstair.log;

import java.io.IOException;
import java.time.Duration;

/** Where an outlet writes. Called by the outlet's writer thread only; never twice at once. */
interface LogPlace {
    /**
     * Takes over one record; its end is told to the {@link Outcome}.
     *
     * @param bytes the record in wire form
     * @return false where it has no room for now
     * @throws IOException where the place is away; the record was not taken
     */
    boolean take(OutletRecord record, byte[] bytes) throws IOException;

    /** Hands on what was taken, as far as it goes. */
    void flush() throws IOException;

    /** Hands on what was taken for at most this long; what is left then is lost, and told as such. */
    void close(Duration wait);

    /** What became of records. Safe for use by several threads. */
    interface Outcome {
        /** The place has it. */
        void kept(OutletRecord record);

        /** The place will never have it. */
        void lost(OutletRecord record, String reason);
    }
}
