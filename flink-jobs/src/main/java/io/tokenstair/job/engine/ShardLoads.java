package io.tokenstair.job.engine;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.cause.Cause;
import io.tokenstair.cause.Confidence;
import io.tokenstair.cause.Severity;
import io.tokenstair.clock.AlignedStamp;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.ShardLoaded;
import io.tokenstair.narrative.Phrase;
import io.tokenstair.narrative.Tale;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Loads of model shards, start by start: a start that took longer than the engine's earlier ones, and which shard of it did. A start is a
 * collector and epoch. Bounded by {@value #SHARDS} shards and the last {@value #STARTS} starts.
 */
public class ShardLoads {
    static final int SHARDS = 4_096;
    static final int STARTS = 8;

    /** A start is slower when it took longer by this share, in hundredths, ... */
    static final int SLOWER_PERCENT = 120;

    /** ... and by this much. */
    static final long SLOWER_NANOS = 1_000_000_000L;

    /** One shard of the start at hand. */
    public static class Shard {
        public String shard = "";
        public long nanos;
        public String eventId = "";
        public @Nullable String deviceId;
        public @Nullable String bindingPath;
        public @Nullable Long sizeBytes;

        /** For Flink's serializer. */
        public Shard() {}
    }

    /** A start that is over. */
    public static class Start {
        public long nanos;
        public int shards;

        /** For Flink's serializer. */
        public Start() {}
    }

    public String space = "";
    public long fromNanos;
    public long toNanos;
    public List<Shard> shards = new ArrayList<>();
    public List<Start> starts = new ArrayList<>();
    /** What each shard took in the fastest start so far. */
    public Map<String, Long> leastNanos = new HashMap<>();

    /** For Flink's serializer. */
    public ShardLoads() {}

    /** Takes a record. The first of another start ends the one before. */
    public void accept(
            EventHeader header,
            ShardLoaded loaded,
            String engineId,
            Consumer<Finding> output,
            LongFunction<@Nullable AlignedStamp> epoch) {
        String ofEvent = header.collectorId() + '/' + header.collectorEpoch();
        if (!ofEvent.equals(space)) {
            finish(engineId, output, epoch);
            space = ofEvent;
        }
        if (loaded.endNanos() < loaded.startNanos() || shards.size() == SHARDS) {
            return;
        }
        if (shards.isEmpty()) {
            fromNanos = loaded.startNanos();
            toNanos = loaded.endNanos();
        }
        fromNanos = Math.min(fromNanos, loaded.startNanos());
        toNanos = Math.max(toNanos, loaded.endNanos());
        Shard shard = new Shard();
        shard.shard = loaded.shard();
        shard.nanos = loaded.endNanos() - loaded.startNanos();
        shard.eventId = header.eventId();
        shard.deviceId = loaded.deviceId();
        shard.bindingPath = loaded.bindingPath();
        shard.sizeBytes = loaded.sizeBytes();
        shards.add(shard);
    }

    /** The start at hand is over: its steps have begun, another one has, or the input has ended. */
    public void finish(String engineId, Consumer<Finding> output, LongFunction<@Nullable AlignedStamp> epoch) {
        if (shards.isEmpty()) {
            return;
        }
        long took = toNanos - fromNanos;
        long usual = Long.MAX_VALUE;
        for (Start start : starts) {
            usual = start.shards == shards.size() ? Math.min(usual, start.nanos) : usual;
        }
        if (usual != Long.MAX_VALUE && took - usual >= SLOWER_NANOS && took / SLOWER_PERCENT >= usual / 100) {
            tell(took, usual, engineId, output, epoch);
        }
        for (Shard shard : shards) {
            leastNanos.merge(shard.shard, shard.nanos, Math::min);
        }
        while (leastNanos.size() > SHARDS) {
            // Another model: what its predecessor's shards took says nothing any more.
            leastNanos.clear();
        }
        Start start = new Start();
        start.nanos = took;
        start.shards = shards.size();
        if (starts.size() == STARTS) {
            starts.remove(0);
        }
        starts.add(start);
        shards.clear();
    }

    private void tell(
            long took,
            long usual,
            String engineId,
            Consumer<Finding> output,
            LongFunction<@Nullable AlignedStamp> epoch) {
        Shard slowest = null;
        long most = Long.MIN_VALUE;
        for (Shard shard : shards) {
            Long before = leastNanos.get(shard.shard);
            if (before != null && shard.nanos - before > most) {
                most = shard.nanos - before;
                slowest = shard;
            }
        }
        if (slowest == null) {
            // None of its shards was loaded before: another model.
            return;
        }
        Long before = leastNanos.get(slowest.shard);
        AlignedStamp from = epoch.apply(fromNanos);
        AlignedStamp to = epoch.apply(toNanos);
        String event = slowest.eventId;
        Tale tale = new Tale()
                .say(
                        Phrase.LOADED_SLOWLY.say(
                                shards.size(), EngineFindings.seconds(took), EngineFindings.seconds(usual)),
                        event)
                .say(
                        Phrase.SLOWEST_SHARD.say(
                                slowest.shard,
                                EngineFindings.seconds(slowest.nanos),
                                EngineFindings.seconds(before == null ? 0 : before)),
                        event);
        if (slowest.sizeBytes != null) {
            tale.say(Phrase.SHARD_SIZE.say(slowest.sizeBytes), event);
        }
        if (slowest.deviceId != null) {
            tale.say(Phrase.SHARD_TO.say(slowest.deviceId), event);
        }
        if (slowest.bindingPath != null) {
            tale.say(Phrase.SHARD_OVER.say(slowest.bindingPath), event);
        }
        output.accept(EngineFindings.finding(
                "model-load-slow",
                Cause.MODEL_LOAD_SLOW,
                Severity.INFO,
                engineId,
                from,
                to,
                slowest.deviceId,
                Confidence.ESTABLISHED,
                Phrase.WHY_SHARDS.say(),
                List.of(slowest.eventId),
                List.of(),
                tale.text()));
    }
}
