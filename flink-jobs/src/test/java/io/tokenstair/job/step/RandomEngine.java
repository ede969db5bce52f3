package io.tokenstair.job.step;

import io.tokenstair.job.step.EngineScript.Step;
import io.tokenstair.job.step.EngineScript.Threads;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Schedules of an engine to which everything happens that can, by seed. */
public final class RandomEngine {
    private static final int BUDGET = 256;
    private static final int SEATS = 6;

    /** One more would make other scripts of the same seeds, and older states were saved in the middle of some. */
    private static final Threads[] THREADS = {
        Threads.RUN, Threads.STAND_READY, Threads.STAND_STILL, Threads.ENGINE_STILL_WORKER_READY
    };

    private RandomEngine() {}

    /** A script of so many steps; the same seed gives the same script. */
    public static EngineScript script(long seed, int steps) {
        Random random = new Random(seed);
        EngineScript engine = new EngineScript();
        if (random.nextBoolean()) {
            engine.configured((long) BUDGET, SEATS);
        }
        if (random.nextBoolean()) {
            engine.hostSampled();
        }
        engine.clockSampled(100 + random.nextInt(10_000));
        List<String> running = new ArrayList<>();
        List<String> waiting = new ArrayList<>();
        for (int i = 0; i < steps; i++) {
            if (random.nextInt(8) == 0 || running.isEmpty() && waiting.isEmpty()) {
                String requestId = "request-" + seed + "-" + i;
                engine.queue(requestId, 1 + random.nextInt(300));
                waiting.add(requestId);
            }
            if (running.size() > 1 && random.nextInt(25) == 0) {
                String victim = running.remove(random.nextInt(running.size()));
                String wantedBy = random.nextInt(3) == 0 ? victim : running.get(random.nextInt(running.size()));
                engine.preempt(victim, random.nextInt(3) == 0 ? null : wantedBy);
                waiting.add(0, victim);
            }
            if (random.nextInt(40) == 0) {
                engine.idle(random.nextInt(80_000_000), threads(random));
            }
            if (random.nextInt(400) == 0) {
                engine.hostSampledNoMore();
            }
            if (random.nextInt(60) == 0) {
                engine.clockSampled(100 + random.nextInt(10_000));
            }
            Step step = engine.step();
            if (random.nextInt(200) == 0) {
                restart(engine, step, running, waiting);
            }
            fill(random, engine, step, running, waiting);
            step.run();
            for (int r = 0; r < running.size(); ) {
                if (engine.madeTokens(running.get(r)) > 0 && random.nextInt(40) == 0) {
                    engine.finish(running.remove(r), random.nextBoolean() ? "length" : "stop");
                } else {
                    r++;
                }
            }
        }
        return engine;
    }

    /** A script of an engine that makes one token per step and sequence for long, with now and then something else, by seed. */
    public static EngineScript steady(long seed, int steps) {
        Random random = new Random(seed);
        EngineScript engine = new EngineScript();
        engine.configured((long) BUDGET, SEATS);
        engine.clockSampled(100 + random.nextInt(10_000));
        List<String> running = new ArrayList<>();
        for (int i = 0; i < steps; i++) {
            String prefilled = null;
            if (running.size() < SEATS && random.nextInt(4) == 0) {
                prefilled = "request-" + seed + "-" + i;
                engine.queue(prefilled, 1 + random.nextInt(100));
            }
            if (random.nextInt(90) == 0) {
                engine.clockSampled(100 + random.nextInt(10_000));
            }
            Step step = engine.step();
            for (String requestId : running) {
                if (random.nextInt(300) > 0) {
                    step.decodeSeveral(requestId, random.nextInt(200) == 0 ? 2 : 1);
                }
            }
            if (prefilled != null) {
                step.prefill(prefilled, engine.owedTokens(prefilled));
                running.add(prefilled);
            }
            step.late(random.nextInt(70) == 0 ? random.nextInt(90_000_000) : random.nextInt(300_000));
            step.counts(running.size(), 0);
            step.run();
            if (running.size() > 1 && random.nextInt(60) == 0) {
                engine.finish(running.remove(random.nextInt(running.size())), "stop");
            } else if (random.nextInt(120) == 0) {
                // A batch that is put together anew has other places for the same sequences.
                running.add(running.remove(0));
            }
        }
        return engine;
    }

    private static Threads threads(Random random) {
        return THREADS[random.nextInt(THREADS.length)];
    }

    /** What waits is lost to the new collector; what runs is announced to it with the step. */
    private static void restart(EngineScript engine, Step step, List<String> running, List<String> waiting) {
        running.removeIf(requestId -> engine.madeTokens(requestId) == 0);
        waiting.clear();
        List<int[]> known = running.stream()
                .map(requestId -> new int[] {engine.promptTokens(requestId), engine.madeTokens(requestId)})
                .toList();
        engine.collectorRestarts();
        for (int i = 0; i < running.size(); i++) {
            step.announce(running.get(i), known.get(i)[0], known.get(i)[1]);
        }
    }

    private static void fill(
            Random random, EngineScript engine, Step step, List<String> running, List<String> waiting) {
        int budget = BUDGET;
        for (String requestId : running) {
            if (random.nextInt(12) == 0) {
                continue;
            }
            int several = random.nextInt(15) == 0 ? 1 + random.nextInt(20) : 1;
            step.decodeSeveral(requestId, several);
            budget -= several;
        }
        while (!waiting.isEmpty() && running.size() < SEATS && budget > 0 && random.nextInt(3) > 0) {
            String requestId = waiting.get(0);
            int tokens = Math.min(budget, engine.owedTokens(requestId));
            budget -= tokens;
            if (engine.madeTokens(requestId) == 0) {
                step.prefill(requestId, tokens);
            } else {
                step.recompute(requestId, tokens);
            }
            if (engine.owedTokens(requestId) > 0) {
                break;
            }
            running.add(waiting.remove(0));
        }
        if (random.nextInt(100) == 0) {
            step.unknown(1_000_000);
        }
        if (random.nextInt(30) == 0) {
            step.late(random.nextInt(150_000_000), threads(random));
        } else {
            step.late(random.nextInt(300_000));
        }
        if (random.nextInt(4) == 0) {
            step.overlapping(random.nextInt(4_000_000));
        }
        if (random.nextInt(50) == 0) {
            step.withoutSchedule();
        }
        step.counts(running.size(), waiting.size());
    }
}
