package io.tokenstair.simulate;

import io.tokenstair.cause.Cause;
import io.tokenstair.event.Phase;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What an engine schedules into its next step: running sequences first, each one token or its next chunk of prompt, within a budget of
 * tokens; then waiting ones while seats, blocks and budget last. Where blocks run out, the newest or least urgent running sequence
 * loses its own and is computed again later. As vLLM V1 does it.
 */
final class Scheduler {
    private static final double OFFLOAD_BYTES_PER_NANO = 50;
    private static final double REMOTE_BYTES_PER_NANO = 25;
    private static final long TRANSFER_SETUP_NANOS = 400_000;
    /** KV of one token of a Llama-3-8B. */
    static final long KV_BYTES_PER_TOKEN = 131_072;

    final List<Sequence> running = new ArrayList<>();
    final List<Sequence> waiting = new ArrayList<>();
    final KvCache cache;

    private final Settings settings;
    private final EngineListener listener;
    private final List<StepRow> rows = new ArrayList<>();
    private int budget;
    private boolean preempting;

    Scheduler(Settings settings, EngineListener listener) {
        this.settings = settings;
        this.listener = listener;
        this.cache = new KvCache(settings.kvBlocks, settings.slowTierBlocks, settings.prefixCaching);
    }

    /** Takes a new sequence in. */
    void enqueue(Sequence sequence) {
        if (sequence.plan.remote()) {
            startTransfer(
                    sequence,
                    sequence.queuedNanos,
                    Cause.REMOTE_KV_ADMISSION,
                    sequence.plan.promptTokens() - 1,
                    REMOTE_BYTES_PER_NANO);
        }
        enqueue(sequence, settings.priorityPolicy ? place(sequence) : waiting.size());
    }

    private void enqueue(Sequence sequence, int place) {
        waiting.add(place, sequence);
    }

    private int place(Sequence sequence) {
        int place = 0;
        while (place < waiting.size() && URGENCY.compare(waiting.get(place), sequence) <= 0) {
            place++;
        }
        return place;
    }

    private static final Comparator<Sequence> URGENCY = Comparator.comparingInt(
                    (Sequence sequence) -> sequence.plan.priority())
            .thenComparingLong(sequence -> sequence.queuedNanos);

    /** Schedules one step; empty when nothing can run. */
    List<StepRow> schedule(long nowNanos, long stepId) {
        rows.clear();
        budget = settings.tokenBudgetTokens;
        preempting = false;
        for (Sequence sequence : order()) {
            if (sequence.running && budget > 0) {
                scheduleRunning(sequence, nowNanos, stepId);
            }
        }
        if (!preempting) {
            admit(nowNanos);
        } else {
            waiting.forEach(sequence -> sequence.waitReason = Cause.KV_PRESSURE);
        }
        if (rows.isEmpty() && !preempting) {
            for (Sequence sequence : new ArrayList<>(running)) {
                if (sequence.running && budget > 0) {
                    scheduleRunning(sequence, nowNanos, stepId);
                }
            }
        }
        return new ArrayList<>(rows);
    }

    private List<Sequence> order() {
        List<Sequence> ordered = new ArrayList<>(running);
        if (settings.order == Settings.Order.PROMPTS_BEFORE_NEWER_DECODES) {
            List<Sequence> decodes = new ArrayList<>();
            List<Sequence> prompts = new ArrayList<>();
            for (Sequence sequence : running) {
                (sequence.owedTokens() == 1 ? decodes : prompts).add(sequence);
            }
            int older = (decodes.size() + 1) / 2;
            ordered = new ArrayList<>(decodes.subList(0, older));
            ordered.addAll(prompts);
            ordered.addAll(decodes.subList(older, decodes.size()));
        } else if (settings.order == Settings.Order.PROMPTS_ONLY_FIRST && promptsWait()) {
            ordered.removeIf(sequence -> sequence.owedTokens() == 1);
        }
        return ordered;
    }

    private boolean promptsWait() {
        for (Sequence sequence : running) {
            if (sequence.owedTokens() > 1) {
                return true;
            }
        }
        return !waiting.isEmpty()
                && running.size() < settings.maxSequences
                && cache.freeCount() >= KvCache.blocksOf(waiting.get(0).totalTokens());
    }

    private void scheduleRunning(Sequence sequence, long nowNanos, long stepId) {
        int tokens = Math.min(Math.min(sequence.owedTokens(), settings.promptChunkTokens), budget);
        int more = KvCache.blocksOf(sequence.computedTokens + tokens) - sequence.blocks.size();
        while (cache.freeCount() < more) {
            Sequence victim = victim();
            preempt(victim, sequence, nowNanos, stepId);
            if (victim == sequence) {
                return;
            }
        }
        grow(sequence, tokens, null);
    }

    private Sequence victim() {
        Sequence victim = running.get(running.size() - 1);
        if (settings.priorityPolicy) {
            for (Sequence candidate : running) {
                if (URGENCY.compare(candidate, victim) > 0) {
                    victim = candidate;
                }
            }
        }
        return victim;
    }

    private void preempt(Sequence victim, Sequence wantedBy, long nowNanos, long stepId) {
        preempting = true;
        for (int i = 0; i < rows.size(); i++) {
            if (rows.get(i).sequence() == victim) {
                budget += rows.remove(i).scheduledTokens();
                break;
            }
        }
        victim.preemptionCount++;
        listener.preempted(victim, stepId, nowNanos, victim.computedTokens, wantedBy, cache.freeCount());
        victim.preemptedFor = wantedBy == victim ? largestHolder(victim) : wantedBy;
        running.remove(victim);
        victim.running = false;
        cache.release(victim.blocks);
        victim.blocks.clear();
        victim.recovering = true;
        victim.hadTokens = Math.max(victim.hadTokens, victim.computedTokens);
        victim.computedTokens = 0;
        victim.firstChunk = true;
        victim.lookedUp = false;
        victim.transferCause = null;
        victim.cachedTokens = 0;
        int place = settings.priorityPolicy ? place(victim) : settings.preemptedGoLast ? waiting.size() : 0;
        enqueue(victim, place);
    }

    /** The running sequence with most blocks beside this one; null when there is none. Equal ones: the one admitted first. */
    @Nullable
    Sequence largestHolder(Sequence but) {
        Sequence largest = null;
        for (Sequence candidate : running) {
            if (candidate != but && (largest == null || candidate.blocks.size() > largest.blocks.size())) {
                largest = candidate;
            }
        }
        return largest;
    }

    /** Takes a sequence out whose client has gone away. */
    void drop(Sequence sequence) {
        running.remove(sequence);
        waiting.remove(sequence);
        sequence.running = false;
        cache.release(sequence.blocks);
        sequence.blocks.clear();
    }

    private void admit(long nowNanos) {
        int i = 0;
        Cause reason = Cause.QUEUE_WAIT;
        boolean open = true;
        while (i < waiting.size()) {
            Sequence sequence = waiting.get(i);
            if (open && budget == 0) {
                open = false;
            }
            if (open && running.size() >= settings.maxSequences) {
                open = false;
                reason = Cause.SEAT_LIMIT;
            }
            if (open && !sequence.lookedUp) {
                lookUp(sequence, nowNanos);
            }
            boolean deferred = sequence.transferEndNanos > nowNanos;
            if (!deferred && open) {
                int tokens = Math.min(Math.min(sequence.owedTokens(), settings.promptChunkTokens), budget);
                int whole = settings.reserveWholePrompt ? sequence.totalTokens() : sequence.computedTokens + tokens;
                if (cache.freeCount() < KvCache.blocksOf(whole) - sequence.blocks.size()) {
                    open = false;
                    reason = Cause.KV_PRESSURE;
                } else {
                    waiting.remove(i);
                    running.add(sequence);
                    sequence.running = true;
                    grow(sequence, tokens, sequence.cachedTokens);
                    continue;
                }
            }
            if (!open && !deferred) {
                // What it found in the cache is not kept from others while it waits.
                forget(sequence);
            }
            sequence.waitReason = deferred && sequence.transferCause != null ? sequence.transferCause : reason;
            i++;
        }
    }

    private void forget(Sequence sequence) {
        if (sequence.lookedUp && sequence.transferCause == null) {
            cache.release(sequence.blocks);
            sequence.blocks.clear();
            sequence.computedTokens = 0;
            sequence.cachedTokens = 0;
            sequence.lookedUp = false;
        }
    }

    /** Gives back what waiting sequences hold, where nothing runs and none of them fits beside the others. */
    void relieve() {
        for (Sequence sequence : waiting) {
            sequence.transferCause = null;
            forget(sequence);
            sequence.computedTokens = 0;
            sequence.lookedUp = false;
        }
    }

    /** Takes what the caches hold of it; starts to load what only the slower tier holds. */
    private void lookUp(Sequence sequence, long nowNanos) {
        sequence.lookedUp = true;
        if (sequence.transferCause != null && !sequence.recovering) {
            // Its KV has come from elsewhere: blocks for it are taken with the first chunk.
            int blocks = KvCache.blocksOf(sequence.computedTokens);
            if (cache.freeCount() < blocks) {
                sequence.lookedUp = false;
            }
            for (int i = 0; sequence.lookedUp && i < blocks; i++) {
                sequence.blocks.add(cache.allocate());
            }
            return;
        }
        int most = (sequence.totalTokens() - 1) / KvCache.BLOCK_TOKENS;
        long[] chain = sequence.chain;
        int cached = cache.cachedBlocks(chain, most);
        for (int block = 0; block < cached; block++) {
            sequence.blocks.add(cache.takeCached(chain[block]));
        }
        int loaded = cache.slowTierBlocks(chain, cached, most);
        if (loaded > 0 && cache.freeCount() >= KvCache.blocksOf(sequence.totalTokens()) - cached) {
            for (int block = cached; block < cached + loaded; block++) {
                int taken = cache.allocate();
                sequence.blocks.add(taken);
                cache.store(taken, chain[block]);
            }
            startTransfer(sequence, nowNanos, Cause.KV_OFFLOAD, loaded * KvCache.BLOCK_TOKENS, OFFLOAD_BYTES_PER_NANO);
        } else {
            loaded = 0;
        }
        sequence.cachedTokens = (cached + loaded) * KvCache.BLOCK_TOKENS;
        sequence.computedTokens = sequence.cachedTokens;
        listener.lookedUp(sequence, nowNanos, sequence.totalTokens(), sequence.cachedTokens);
    }

    private void startTransfer(Sequence sequence, long nowNanos, Cause cause, int tokens, double bytesPerNano) {
        double factor = 1;
        for (Fault fault : settings.faults) {
            if (fault.kind().cause() == cause && fault.activeAt(nowNanos)) {
                factor *= fault.factor();
            }
        }
        long nanos = StrictMath.round((TRANSFER_SETUP_NANOS + tokens * KV_BYTES_PER_TOKEN / bytesPerNano) * factor);
        sequence.transferCause = cause;
        sequence.transferEndNanos = nowNanos + nanos;
        if (cause == Cause.REMOTE_KV_ADMISSION) {
            sequence.cachedTokens = tokens;
            sequence.computedTokens = tokens;
        }
        listener.transferred(sequence, cause, nowNanos, sequence.transferEndNanos, tokens);
    }

    private void grow(Sequence sequence, int tokens, @Nullable Integer cachedTokens) {
        int context = sequence.computedTokens + tokens;
        int more = KvCache.blocksOf(context) - sequence.blocks.size();
        for (int i = 0; i < more; i++) {
            sequence.blocks.add(cache.allocate());
        }
        budget -= tokens;
        Phase phase;
        if (sequence.recovering) {
            phase = sequence.firstChunk ? Phase.RESUMED : Phase.RECOMPUTE;
        } else {
            phase = sequence.madeTokens == 0 ? Phase.PREFILL : Phase.DECODE;
        }
        rows.add(new StepRow(sequence, tokens, context, phase, cachedTokens, tokens == sequence.owedTokens()));
    }

    /** The earliest end of a transfer that a waiting sequence needs; {@link Long#MAX_VALUE} when there is none. */
    long nextTransferEnd(long nowNanos) {
        long next = Long.MAX_VALUE;
        for (Sequence sequence : waiting) {
            if (sequence.transferEndNanos > nowNanos) {
                next = Math.min(next, sequence.transferEndNanos);
            }
        }
        return next;
    }
}
