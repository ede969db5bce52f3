package io.tokenstair.job.step;

import org.jspecify.annotations.Nullable;

/**
 * Signs of KV pressure that are no events of their own: free blocks that become short, and a prefix hit rate that drops. Each counts once,
 * when it begins. State: three numbers and two flags.
 */
public class KvSigns {
    private static final int SHORT_PERCENT = 5;
    private static final int ENOUGH_PERCENT = 7;
    private static final long DROP_PPM = 50_000;
    private static final long PPM = 1_000_000;
    private static final int PROMPTS = 16;
    private static final int RECENT = 8;
    private static final int USUAL = 64;

    public boolean shortOfBlocks;
    public boolean hitsDropped;
    public int prompts;
    /** Share of prompt tokens that were cached, over the last few prompts, in millionths. */
    public long recentHitsPpm;
    /** The same over many prompts. */
    public long usualHitsPpm;

    /** For Flink's serializer. */
    public KvSigns() {}

    /** True when fewer than 5 % of the blocks are free, and were not before. */
    boolean blocksBecomeShort(@Nullable Long usedBlocks, @Nullable Long totalBlocks) {
        if (usedBlocks == null || totalBlocks == null || totalBlocks <= 0 || usedBlocks < 0) {
            return false;
        }
        double freePercent = 100.0 * (totalBlocks - usedBlocks) / totalBlocks;
        boolean before = shortOfBlocks;
        shortOfBlocks = freePercent < (before ? ENOUGH_PERCENT : SHORT_PERCENT);
        return shortOfBlocks && !before;
    }

    /** True when a prompt brings the hit rate of the last ones more than 5 points below the usual one, and it was not before. */
    boolean hitsDrop(long cachedTokens, @Nullable Long promptTokens) {
        if (promptTokens == null || promptTokens <= 0 || cachedTokens < 0) {
            return false;
        }
        long hits = PPM * Math.min(cachedTokens, promptTokens) / promptTokens;
        prompts = Math.min(prompts + 1, USUAL);
        recentHitsPpm += (hits - recentHitsPpm) / Math.min(prompts, RECENT);
        usualHitsPpm += (hits - usualHitsPpm) / prompts;
        boolean before = hitsDropped;
        long below = usualHitsPpm - recentHitsPpm;
        hitsDropped = prompts >= PROMPTS && below > (before ? DROP_PPM / 2 : DROP_PPM);
        return hitsDropped && !before;
    }
}
