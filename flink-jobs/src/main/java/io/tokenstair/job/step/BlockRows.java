package io.tokenstair.job.step;

import io.tokenstair.job.type.PackedBytes;
import java.io.IOException;

/**
 * Rows of a batch that lie in its block: pieces of its own, and between two of them a run of rows that it shares.
 *
 * @param bytes where its own pieces are
 * @param share where shared rows are
 * @param pieces of each piece where it begins and ends, and of the run behind it its place in the share and its steps; no run is behind the last
 */
record BlockRows(byte[] bytes, SentShare share, int[] pieces) {
    private static final int PER_RUN = 4;

    /** Takes them; all stays where it is. */
    static BlockRows take(PackedBytes in, SentShare share, int length) throws IOException {
        int runs = in.takeInt();
        if (runs < 0 || runs > TokenBatch.CAPACITY) {
            throw new IOException("Cannot read " + runs + " runs of shared rows");
        }
        int[] pieces = new int[PER_RUN * runs + 2];
        long taken = 0;
        for (int at = 0; at < pieces.length; at += PER_RUN) {
            int own = in.takeInt();
            pieces[at] = in.position();
            in.skip(own);
            pieces[at + 1] = in.position();
            taken += own;
            if (at + 2 < pieces.length) {
                pieces[at + 2] = share.place(in.takeLong());
                pieces[at + 3] = in.takeInt();
                taken += share.length(pieces[at + 2], pieces[at + 3]);
            }
        }
        if (taken != length) {
            throw new IOException("Cannot read " + taken + " bytes of rows out of " + length);
        }
        return new BlockRows(in.array(), share, pieces);
    }

    /** How many runs it has. */
    int runs() {
        return pieces.length / PER_RUN;
    }

    /** Where a piece begins. */
    int pieceFrom(int piece) {
        return pieces[PER_RUN * piece];
    }

    /** Where a piece ends. */
    int pieceTo(int piece) {
        return pieces[PER_RUN * piece + 1];
    }

    /** The place of the first step of a run. */
    int runPlace(int run) {
        return pieces[PER_RUN * run + 2];
    }

    /** Steps of a run. */
    int runSteps(int run) {
        return pieces[PER_RUN * run + 3];
    }

    /** All rows, one behind the other, in an array of their own. */
    byte[] together(int length) {
        byte[] rows = new byte[length];
        int at = 0;
        for (int run = 0; run < runs(); run++) {
            int own = pieceTo(run) - pieceFrom(run);
            System.arraycopy(bytes, pieceFrom(run), rows, at, own);
            int from = share.from(runPlace(run));
            int shared = share.from(runPlace(run) + runSteps(run)) - from;
            System.arraycopy(share.bytes(), from, rows, at + own, shared);
            at += own + shared;
        }
        System.arraycopy(bytes, pieceFrom(runs()), rows, at, length - at);
        return rows;
    }
}
