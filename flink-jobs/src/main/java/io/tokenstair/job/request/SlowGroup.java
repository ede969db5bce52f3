package io.tokenstair.job.request;

import io.tokenstair.cause.Part;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Slow tokens of a sequence that share cause and culprit: what becomes one finding. A preemption is a group of its own. How many there
 * may be: {@link SlowGroups}.
 */
public class SlowGroup {
    static final int EVIDENCE = 16;

    public String cause = "";
    public @Nullable String culpritRequestId;
    public int firstTokenIndex;
    public int lastTokenIndex;
    public long tokens;
    public long sumLostNanos;
    public long mostLostNanos = Long.MIN_VALUE;
    public int worstTokenIndex;
    /** Which of the sequence's engines made that token; -1 where none is known. */
    public int worstEngine = -1;

    public String confidence = "";
    public String confidenceWhy = "";
    public List<String> worstChain = new ArrayList<>();
    public List<String> evidence = new ArrayList<>();
    public long[] partNanos = new long[Part.COUNT];
    public int partMask;
    public @Nullable Long fromEpochNanos;
    public @Nullable Long toEpochNanos;
    public @Nullable Long boundNanos;
    /** Statistical width; absent where it is not known. */
    public @Nullable Long sigmaNanos;

    /** What it cost since tokens began to be slow, at most {@value RequestMilestones#SPELL_TOKENS} apart. */
    public long spellLostNanos;
    /** Whether that has been said as a milestone. */
    public boolean spellTold;

    /** For Flink's serializer. */
    public SlowGroup() {}
}
