package io.tokenstair.look.slo;

import io.tokenstair.look.archive.RequestFilter;
import io.tokenstair.look.archive.RowCursor;
import io.tokenstair.look.archive.SequenceKey;
import io.tokenstair.look.archive.SloRow;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The breaches beside sequences and tokens that are read in their order: each is asked for once, no memory of those before. */
public final class SloMarks implements AutoCloseable {
    private final @Nullable SloBreaches breaches;
    private @Nullable SequenceKey before;
    private final @Nullable RowCursor<SloRow> rows;

    /**
     * The breaches of these sequences. Without limits there are none.
     *
     * @param asked the sequences that are read, all of them and in their order
     */
    public SloMarks(@Nullable SloBreaches breaches, RequestFilter asked) {
        this.breaches = breaches;
        this.rows = breaches == null ? null : breaches.bySequence(asked);
    }

    /** The time to the first token of the sequence that is read next, where it is beyond its limit. */
    public List<SloBreach> ofSequence(SequenceKey key) {
        List<SloBreach> found = new ArrayList<>();
        for (SloRow next = peek(); next != null; next = peek()) {
            if (next.key().equals(key) && !next.ofFirstToken()) {
                break;
            }
            if (next.key().equals(key)) {
                found.add(take());
            } else if (next.key().equals(before)) {
                // Of a token that was not asked for.
                take();
            } else {
                break;
            }
        }
        before = key;
        return found;
    }

    /** The gap of a token of that sequence, where it is beyond its limit. */
    public List<SloBreach> ofToken(SequenceKey key, int tokenIndex) {
        List<SloBreach> found = new ArrayList<>();
        for (SloRow next = peek(); next != null && next.key().equals(key); next = peek()) {
            int index = next.token() == null ? 0 : next.token().tokenIndex();
            if (index > tokenIndex) {
                break;
            }
            SloBreach breach = take();
            if (index == tokenIndex) {
                found.add(breach);
            }
        }
        return found;
    }

    private @Nullable SloRow peek() {
        return rows == null ? null : rows.peek();
    }

    private SloBreach take() {
        return Objects.requireNonNull(breaches).of(Objects.requireNonNull(rows).next());
    }

    @Override
    public void close() {
        if (rows != null) {
            rows.close();
        }
    }
}
