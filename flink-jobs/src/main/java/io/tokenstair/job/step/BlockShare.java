package io.tokenstair.job.step;

import io.tokenstair.job.type.PackedBytes;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What batches of one block share and leave out: rows of one engine, of all steps from the first to the last that one of them names, and texts, of
 * which the same object comes again and again where slow tokens of a step have the same story.
 */
public final class BlockShare {
    private @Nullable SharedRows rows;
    private long firstStep;
    private long endStep;
    private final Map<String, Integer> numberOfText = new IdentityHashMap<>();
    private final PackedBytes texts = new PackedBytes();

    /** Has none yet. */
    public BlockShare() {}

    /** Takes in the shared rows of a batch. False where it has none, or not all of them are among the rows of those before. */
    public boolean cover(TokenBatch batch) {
        SharedRows shared = batch.shared();
        if (shared == null || batch.runs() == 0 || (rows != null && rows != shared)) {
            return false;
        }
        int last = batch.runs() - 1;
        long first = batch.runStep(0);
        long end = batch.runStep(last) + batch.runSteps(last);
        if (!shared.has(first, (int) (end - first))) {
            return false;
        }
        firstStep = rows == null ? first : Math.min(firstStep, first);
        endStep = rows == null ? end : Math.max(endStep, end);
        rows = shared;
        return true;
    }

    /** Puts a batch that is covered, without its shared rows. */
    public void put(TokenBatch batch, PackedBytes out) {
        if (rows == null || batch.shared() != rows) {
            throw new IllegalStateException("Cannot put a batch whose shared rows are not here");
        }
        TokenBatchSerializer.putSharing(batch, this, out);
    }

    /** Puts a text: its number among those of the block. */
    void putText(String text, PackedBytes out) {
        Integer number = numberOfText.get(text);
        if (number == null) {
            number = numberOfText.size();
            numberOfText.put(text, number);
            texts.putText(text);
        }
        out.putInt(number);
    }

    /** Puts texts. */
    void putTexts(List<String> several, PackedBytes out) {
        out.putInt(several.size());
        for (String text : several) {
            putText(text, out);
        }
    }

    /** Puts what is shared, in the form of {@link SentShare}. */
    public void putShared(PackedBytes out) {
        SharedRows shared = rows;
        if (shared == null) {
            SentShare.putNone(out);
        } else {
            SentShare.put(shared, firstStep, (int) (endStep - firstStep), out);
        }
        out.putInt(numberOfText.size());
        out.putFilled(texts);
    }

    /** Has none again. */
    public void clear() {
        rows = null;
        if (!numberOfText.isEmpty()) {
            numberOfText.clear();
            texts.clear();
        }
    }
}
