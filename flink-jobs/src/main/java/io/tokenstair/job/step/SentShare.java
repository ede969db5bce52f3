package io.tokenstair.job.step;

import io.tokenstair.job.type.PackedBytes;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the batches of a block share where it has arrived: rows of some steps, and texts. The batches say which of them are theirs. */
public final class SentShare {
    private final byte[] bytes;
    private final long firstStep;
    private final int[] from;
    private final @Nullable String[] texts;
    private final int[] textFrom;

    /** Batches that have shared rows. */
    private int batches;

    private @Nullable SharedColumns columns;

    private SentShare(byte[] bytes, long firstStep, int[] from, int[] textFrom) {
        this.textFrom = textFrom;
        this.texts = new @Nullable String[textFrom.length];
        this.bytes = bytes;
        this.firstStep = firstStep;
        this.from = from;
    }

    /** Puts the rows of some steps; of none where there are none to put. */
    static void put(SharedRows rows, long firstStep, int steps, PackedBytes out) {
        out.putLong(firstStep);
        out.putInt(steps);
        for (long step = firstStep; step < firstStep + steps; step++) {
            out.putInt(rows.from(step + 1) - rows.from(step));
        }
        int at = rows.from(firstStep);
        out.putBytes(rows.bytes(), at, rows.from(firstStep + steps) - at);
    }

    /** Puts none. */
    static void putNone(PackedBytes out) {
        out.putLong(0);
        out.putInt(0);
        out.putInt(0);
    }

    /** Takes it; all stays where it is. */
    public static SentShare take(PackedBytes in) throws IOException {
        long firstStep = in.takeLong();
        int steps = in.takeInt();
        if (steps < 0 || steps > SharedRows.STEPS) {
            throw new IOException("Cannot read shared rows of " + steps + " steps");
        }
        int[] from = new int[steps + 1];
        for (int i = 0; i < steps; i++) {
            from[i + 1] = from[i] + in.takeInt();
        }
        int length = in.takeInt();
        if (length != from[steps]) {
            throw new IOException("Cannot read " + from[steps] + " bytes of shared rows out of " + length);
        }
        int at = in.position();
        in.skip(length);
        for (int i = 0; i <= steps; i++) {
            from[i] += at;
        }
        int texts = in.takeInt();
        int[] textFrom = new int[Math.max(0, Math.min(texts, in.left()))];
        for (int i = 0; i < textFrom.length; i++) {
            textFrom[i] = in.position();
            in.skip(in.takeInt());
        }
        return new SentShare(in.array(), firstStep, from, textFrom);
    }

    /** Takes a text. */
    String takeText(PackedBytes in) throws IOException {
        int number = in.takeInt();
        if (number < 0 || number >= textFrom.length) {
            throw new IOException("Cannot read text " + number + " of " + textFrom.length);
        }
        String text = texts[number];
        if (text == null) {
            text = new PackedBytes(bytes, textFrom[number]).takeText();
            texts[number] = text;
        }
        return text;
    }

    /** Takes texts. */
    List<String> takeTexts(PackedBytes in) throws IOException {
        int count = in.takeInt();
        List<String> several = new ArrayList<>(Math.max(0, Math.min(count, in.left())));
        for (int i = 0; i < count; i++) {
            several.add(takeText(in));
        }
        return several;
    }

    /** Says that another batch has some of its rows. */
    public void sharedByOneMore() {
        batches++;
    }

    /** Reads a little of it. */
    public int touch() {
        return from.length + batches;
    }

    /** Its rows in columns; null where so few batches have them that these are not worth it. */
    @Nullable
    SharedColumns columns() {
        int steps = from.length - 1;
        if (columns == null && SharedColumns.areWorthIt(batches, steps)) {
            columns = new SharedColumns(this, steps);
        }
        return columns;
    }

    /** Where the rows lie. */
    byte[] bytes() {
        return bytes;
    }

    /** Where the row at a place begins, or the one before it ends. */
    int from(int place) {
        return from[place];
    }

    /** Whether a step has a row. */
    boolean hasRow(int place) {
        return from[place] < from[place + 1];
    }

    /** Bytes of so many rows. */
    int length(int place, int count) throws IOException {
        if (count < 0 || count > from.length - 1 - place) {
            throw new IOException("Cannot read " + count + " shared rows");
        }
        return from[place + count] - from[place];
    }

    /** The place of a step. */
    int place(long step) throws IOException {
        long place = step - firstStep;
        if (place < 0 || place >= from.length) {
            throw new IOException("Cannot read the shared row of step " + step);
        }
        return (int) place;
    }
}
