package io.tokenstair.job.request;

import io.tokenstair.cause.DeliveryPart;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Tokens of a sequence that were delivered late for one cause: what becomes one finding. */
public class LateGroup {
    public String cause = "";
    public String confidence = "";
    public String confidenceWhy = "";
    public int firstTokenIndex;
    public int lastTokenIndex;
    public long tokens;
    public long sumLateNanos;
    public long mostLateNanos = Long.MIN_VALUE;
    public int worstTokenIndex;
    public String worstSentence = "";
    public List<String> evidence = new ArrayList<>();
    public long[] partNanos = new long[DeliveryPart.values().length];
    public int partMask;
    public @Nullable Long fromEpochNanos;
    public @Nullable Long toEpochNanos;
    public @Nullable Long boundNanos;
    /** Statistical width; absent where it is not known. */
    public @Nullable Long sigmaNanos;

    /** What it cost since tokens began to be late, at most {@value RequestMilestones#SPELL_TOKENS} apart. */
    public long spellLateNanos;
    /** Whether that has been said as a milestone. */
    public boolean spellTold;

    /** For Flink's serializer. */
    public LateGroup() {}
}
