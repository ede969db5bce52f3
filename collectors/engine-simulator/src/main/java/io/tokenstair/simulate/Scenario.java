package io.tokenstair.simulate;

import io.tokenstair.cause.Cause;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** What can be simulated. Each takes any seed; the faults of a scenario begin after a fifth of its load, when models have learnt. */
public enum Scenario {
    HEALTHY(
            "Nothing goes wrong: 12 ms steps, 8 to 64 sequences, sessions that share prefixes, rare jitter",
            200,
            null) {
        @Override
        void shape(Settings settings, RandomStream stream) {}
    },
    KV_PRESSURE(
            "Contexts expand, KV blocks run short, requests wait for them, and step time rises in a staircase",
            200,
            Cause.KV_PRESSURE) {
        @Override
        void shape(Settings settings, RandomStream stream) {
            settings.kvBlocks = 1_500;
            stairs(settings, stream, 3, 7_000);
        }
    },
    CONTEXT_STAIRCASE(
            "Long answers see their blocks go to a slower tier, again and again: token time rises in levels",
            60,
            Cause.KERNEL_SLOW) {
        @Override
        void shape(Settings settings, RandomStream stream) {
            settings.requestsPerSecond = 3;
            settings.meanTurns = 1;
            settings.leastOutputTokens = 900;
            settings.mostOutputTokens = 1_600;
            settings.demotionProbability = 0.08;
            extra(settings, 0.02, 6_000, 20, 0);
            extra(settings, 0.12, 6_000, 20, 0);
            stairs(settings, stream, 5, 6_000);
        }
    },
    PREEMPTION_LOOP(
            "A long prompt is let in because its first part fits, runs into the wall, and starts over, many times",
            120,
            Cause.PREEMPTION) {
        @Override
        void shape(Settings settings, RandomStream stream) {
            settings.requestsPerSecond = 4;
            settings.meanTurns = 1;
            settings.sharedPrefixTokens = 0;
            settings.mostPromptTokens = 128;
            settings.leastOutputTokens = 40;
            settings.mostOutputTokens = 80;
            settings.tokenBudgetTokens = 1_024;
            settings.prefixCaching = false;
            settings.reserveWholePrompt = false;
            settings.kvBlocks = 2_000;
            for (double share = 0.2; share < 0.85; share += 0.3) {
                for (int i = 0; i < 4; i++) {
                    extra(settings, share, 6_800, 500, 0);
                }
                extra(settings, share + 0.06, 5_600, 80, 0);
            }
        }
    },
    PREEMPTION_STORM(
            "Answers outgrow the KV memory: much of what is computed was computed before", 160, Cause.PREEMPTION) {
        @Override
        void shape(Settings settings, RandomStream stream) {
            settings.requestsPerSecond = 8;
            settings.meanTurns = 1;
            settings.mostPromptTokens = 256;
            settings.leastOutputTokens = 400;
            settings.mostOutputTokens = 800;
            settings.kvBlocks = 1_400;
            settings.prefixCaching = false;
        }
    },
    PREFIX_COLLAPSE(
            "A long prefix that many requests share is evicted and has to be computed again",
            200,
            Cause.PREFILL_INTERFERENCE) {
        @Override
        void shape(Settings settings, RandomStream stream) {
            settings.requestsPerSecond = 4;
            settings.sharedPrefixTokens = 3_072;
            settings.prefixGroups = 12;
            settings.kvBlocks = 3_600;
            for (double share = 0.4; share < 0.9; share += 0.12) {
                // Together they take more than is free: prefixes that nobody uses just then go.
                for (int i = 0; i < 3; i++) {
                    extra(settings, share, 8_000, 40, 0);
                }
            }
        }
    },
    PREFILL_INTERFERENCE(
            "Long prompts are computed in the steps of those that decode", 200, Cause.PREFILL_INTERFERENCE) {
        @Override
        void shape(Settings settings, RandomStream stream) {
            longPrompts(settings, stream, 20, 2_500, 14_000);
        }
    },
    DECODE_STARVATION(
            "The scheduler computes prompts first and leaves decodes out", 200, Cause.DECODE_STARVED_BY_PREFILL) {
        @Override
        void shape(Settings settings, RandomStream stream) {
            settings.order = Settings.Order.PROMPTS_ONLY_FIRST;
            longPrompts(settings, stream, 10, 5_000, 14_000);
        }
    },
    BUDGET_STARVATION(
            "Prompts use up the token budget before the newer decodes get their one token",
            200,
            Cause.TOKEN_BUDGET_STARVATION) {
        @Override
        void shape(Settings settings, RandomStream stream) {
            settings.order = Settings.Order.PROMPTS_BEFORE_NEWER_DECODES;
            settings.tokenBudgetTokens = 768;
            longPrompts(settings, stream, 12, 4_000, 10_000);
        }
    },
    BATCH_OSCILLATION("Load comes in bursts: the batch swings, and step time with it", 900, Cause.BATCH_GROWTH) {
        @Override
        void shape(Settings settings, RandomStream stream) {
            settings.requestsPerSecond = 40;
            shortOnes(settings);
            for (long from = settings.at(0.1); from < 2 * settings.spanNanos(); from += 4_000_000_000L) {
                settings.rateChanges.add(new double[] {from, from + 600_000_000.0, 30});
            }
            settings.rateChanges.add(new double[] {0, 1e18, 0.25});
        }
    },
    SEAT_LIMIT("More requests than seats", 200, Cause.SEAT_LIMIT) {
        @Override
        void shape(Settings settings, RandomStream stream) {
            settings.maxSequences = 20;
        }
    },
    QUEUE_WAIT("Requests wait behind a long prompt that takes the whole token budget", 200, Cause.QUEUE_WAIT) {
        @Override
        void shape(Settings settings, RandomStream stream) {
            settings.tokenBudgetTokens = 1_024;
            longPrompts(settings, stream, 12, 10_000, 18_000);
        }
    },
    PRIORITY("Three priorities and too few blocks: the least urgent pay", 200, Cause.PREEMPTION) {
        @Override
        void shape(Settings settings, RandomStream stream) {
            settings.priorityPolicy = true;
            settings.priorities = 3;
            settings.kvBlocks = 1_250;
            settings.meanTurns = 1;
            settings.mostOutputTokens = 600;
        }
    },
    PRIORITY_INVERSION(
            "Requests have priorities, and the scheduler takes them as they came: urgent ones wait behind others",
            200,
            Cause.QUEUE_WAIT) {
        @Override
        void shape(Settings settings, RandomStream stream) {
            settings.priorities = 3;
            settings.tokenBudgetTokens = 1_024;
            for (int i = 0; i < 12; i++) {
                double share = 0.2 + 0.75 * (i + 0.8 * stream.uniform(2L * i)) / 12;
                extra(settings, share, (int) stream.between(2L * i + 1, 10_000, 18_000), 60, 2);
            }
        }
    },
    OVERTAKEN("A preempted request goes to the end of the queue, and later ones run before it", 200, Cause.PREEMPTION) {
        @Override
        void shape(Settings settings, RandomStream stream) {
            settings.preemptedGoLast = true;
            settings.kvBlocks = 1_250;
            settings.meanTurns = 1;
            settings.mostOutputTokens = 600;
        }
    },
    GRAPH_FALLBACK(
            "The batch grows beyond the largest captured graph and steps run eagerly", 260, Cause.KERNEL_FALLBACK) {
        @Override
        void shape(Settings settings, RandomStream stream) {
            settings.maxGraphBatch = 40;
            settings.leastPromptTokens = 32;
            settings.mostPromptTokens = 128;
            settings.rateChanges.add(new double[] {settings.at(0.35), settings.at(0.55), 2.4});
        }
    },
    EAGER("Graphs are off for a while, as after a failed capture", 200, Cause.KERNEL_FALLBACK) {
        @Override
        void shape(Settings settings, RandomStream stream) {
            settings.faults.add(Fault.factor(FaultKind.EAGER, settings.at(0.4), settings.at(0.55), 1));
            settings.faults.add(Fault.factor(FaultKind.EAGER, settings.at(0.8), settings.at(0.85), 1));
        }
    },
    SLOW_KERNEL("The same kernels with the same shapes take longer for a while", 200, Cause.KERNEL_SLOW) {
        @Override
        void shape(Settings settings, RandomStream stream) {
            settings.faults.add(Fault.factor(FaultKind.KERNEL_SLOW, settings.at(0.35), settings.at(0.45), 1.6));
            settings.faults.add(Fault.factor(FaultKind.KERNEL_SLOW, settings.at(0.7), settings.at(0.75), 2.2));
        }
    },
    JIT("Kernels are compiled at the first use of a shape", 200, Cause.JIT_COMPILE) {
        @Override
        void shape(Settings settings, RandomStream stream) {
            points(settings, stream, FaultKind.JIT, 12, 80, 700);
        }
    },
    HOST_PAUSE(
            "The engine's process stands still now and then; every second pause is recorded by name",
            200,
            Cause.HOST_PAUSE) {
        @Override
        void shape(Settings settings, RandomStream stream) {
            points(settings, stream, FaultKind.HOST_PAUSE, 12, 60, 400);
        }
    },
    HOST_CONTENTION("The engine's threads wait for a core in every step for a while", 200, Cause.HOST_CONTENTION) {
        @Override
        void shape(Settings settings, RandomStream stream) {
            settings.faults.add(
                    Fault.lasting(FaultKind.HOST_CONTENTION, settings.at(0.35), settings.at(0.45), 12_000_000));
            settings.faults.add(
                    Fault.lasting(FaultKind.HOST_CONTENTION, settings.at(0.7), settings.at(0.78), 20_000_000));
        }
    },
    HOST_GAP("The engine has no step in flight for a while, and nothing says why", 200, Cause.HOST_GAP) {
        @Override
        void shape(Settings settings, RandomStream stream) {
            points(settings, stream, FaultKind.HOST_GAP, 14, 10, 120);
        }
    },
    ALLOC_STALL(
            "The allocator fails, empties its pool, and waits for the device while it does", 200, Cause.ALLOC_STALL) {
        @Override
        void shape(Settings settings, RandomStream stream) {
            points(settings, stream, FaultKind.ALLOC, 14, 12, 120);
        }
    },
    STREAM_SYNC("A synchronising call waits", 200, Cause.STREAM_SYNC) {
        @Override
        void shape(Settings settings, RandomStream stream) {
            points(settings, stream, FaultKind.SYNC, 16, 8, 60);
        }
    },
    DRIVER_ERROR("A wait ends with an error of the driver, and the engine goes on", 200, Cause.DRIVER_ERROR) {
        @Override
        void shape(Settings settings, RandomStream stream) {
            points(settings, stream, FaultKind.DRIVER_ERROR, 8, 60, 500);
        }
    },
    THERMAL(
            "The device gets hot and slows its clock: all kernels take longer by one factor",
            200,
            Cause.THERMAL_CLOCK) {
        @Override
        void shape(Settings settings, RandomStream stream) {
            settings.faults.add(Fault.factor(FaultKind.THERMAL, settings.at(0.4), settings.at(0.55), 1.45));
        }
    },
    COLLECTIVE_WAIT("One of two ranks comes late to a collective operation", 200, Cause.COLLECTIVE_WAIT) {
        @Override
        void shape(Settings settings, RandomStream stream) {
            settings.tensorParallelCount = 2;
            points(settings, stream, FaultKind.COLLECTIVE, 16, 8, 80);
        }
    },
    REMOTE_KV("Another node computes the prompts; for a while its KV comes slowly", 200, Cause.REMOTE_KV_ADMISSION) {
        @Override
        void shape(Settings settings, RandomStream stream) {
            settings.remotePrompts = true;
            settings.faults.add(Fault.factor(FaultKind.REMOTE_KV, settings.at(0.4), settings.at(0.7), 40));
        }
    },
    KV_OFFLOAD("Evicted blocks come back from a slower tier; for a while it is slower still", 200, Cause.KV_OFFLOAD) {
        @Override
        void shape(Settings settings, RandomStream stream) {
            settings.kvBlocks = 1_900;
            settings.slowTierBlocks = 40_000;
            settings.meanTurns = 3;
            settings.faults.add(Fault.factor(FaultKind.OFFLOAD, settings.at(0.4), settings.at(0.8), 30));
        }
    },
    OUTPUT_STALL("The engine's front end sends nothing for a while, though steps go on", 200, Cause.OUTPUT_STALL) {
        @Override
        void shape(Settings settings, RandomStream stream) {
            points(settings, stream, FaultKind.OUTPUT_STALL, 10, 60, 400);
        }
    },
    GATEWAY_BUFFERING("The gateway holds chunks and writes them in groups", 200, Cause.GATEWAY_BUFFERING) {
        @Override
        void shape(Settings settings, RandomStream stream) {
            settings.faults.add(
                    Fault.lasting(FaultKind.GATEWAY_BUFFERING, settings.at(0.35), settings.at(0.7), 250_000_000));
        }
    },
    NETWORK("What the gateway writes is lost and sent again", 200, Cause.NETWORK) {
        @Override
        void shape(Settings settings, RandomStream stream) {
            Fault lossy = Fault.lasting(FaultKind.NETWORK, settings.at(0.35), settings.at(0.75), 160_000_000);
            settings.faults.add(new Fault(lossy.kind(), lossy.fromNanos(), lossy.toNanos(), lossy.sizeNanos(), 0.25));
        }
    },
    CLIENT_SLOW("Some clients do not read, and writes to them block", 200, Cause.CLIENT_SLOW) {
        @Override
        void shape(Settings settings, RandomStream stream) {
            settings.faults.add(
                    new Fault(FaultKind.CLIENT_SLOW, settings.at(0.3), settings.at(0.75), 220_000_000, 0.35));
        }
    },
    CLOCK_FAULTS("A host's clock jumps, runs fast, and is compared with no other one in the end", 200, null) {
        @Override
        void shape(Settings settings, RandomStream stream) {
            settings.faults.add(
                    Fault.lasting(FaultKind.CLOCK_STEP, settings.at(0.4), 2 * settings.spanNanos(), 3_000_000));
            settings.faults.add(Fault.factor(FaultKind.CLOCK_DRIFT, settings.at(0.6), settings.at(0.8), 80));
            settings.faults.add(Fault.factor(FaultKind.CLOCK_PATH, settings.at(0.85), 4 * settings.spanNanos(), 1));
        }
    },
    EVENT_LOSS("Records are lost between collectors and log", 200, Cause.HOST_PAUSE) {
        @Override
        void shape(Settings settings, RandomStream stream) {
            points(settings, stream, FaultKind.HOST_PAUSE, 8, 60, 400);
            settings.faults.add(Fault.factor(FaultKind.LOSS, settings.at(0.3), settings.at(0.7), 0.02));
        }
    },
    DUPLICATES_AND_REORDERING(
            "Records come twice and in another order, within the lateness bound", 200, Cause.PREFILL_INTERFERENCE) {
        @Override
        void shape(Settings settings, RandomStream stream) {
            longPrompts(settings, stream, 12, 2_500, 10_000);
            settings.faults.add(Fault.factor(FaultKind.DUPLICATES, settings.at(0.2), settings.at(0.9), 0.05));
            settings.faults.add(Fault.factor(FaultKind.REORDERING, settings.at(0.2), settings.at(0.9), 0.2));
        }
    },
    MODEL_LOAD_SLOW("The engine's start reads one shard much slower than its last start did", 60, null) {
        @Override
        void shape(Settings settings, RandomStream stream) {
            settings.loadsShards = true;
            settings.faults.add(Fault.factor(FaultKind.SLOW_LOAD, -120_000_000_000L, -110_000_000_000L, 6));
        }
    },
    CONTEXT_GROWTH("Requests with very long contexts join and decode beside the others", 200, Cause.CONTEXT_GROWTH) {
        @Override
        void shape(Settings settings, RandomStream stream) {
            for (int i = 0; i < 4; i++) {
                extra(settings, 0.35 + 0.02 * i, (int) stream.between(i, 22_000, 30_000), 300, 0);
            }
        }
    },
    BATCH_GROWTH("Many more requests come for a while", 700, Cause.BATCH_GROWTH) {
        @Override
        void shape(Settings settings, RandomStream stream) {
            settings.requestsPerSecond = 20;
            shortOnes(settings);
            settings.rateChanges.add(new double[] {settings.at(0.4), settings.at(0.5), 8});
        }
    },
    LEVEL_SHIFT("Step time rises once and stays: no staircase", 200, Cause.KERNEL_SLOW) {
        @Override
        void shape(Settings settings, RandomStream stream) {
            stairs(settings, stream, 1, 0);
        }
    },
    RAMP("Step time rises slowly and evenly: no staircase", 200, Cause.KERNEL_SLOW) {
        @Override
        void shape(Settings settings, RandomStream stream) {
            for (int i = 0; i < 120; i++) {
                settings.faults.add(Fault.factor(
                        FaultKind.KERNEL_SLOW, settings.at(0.25 + 0.005 * i), 100 * settings.spanNanos(), 1.004));
            }
        }
    },
    MIXED("Several faults at once", 300, Cause.PREFILL_INTERFERENCE) {
        @Override
        void shape(Settings settings, RandomStream stream) {
            longPrompts(settings, stream, 12, 2_500, 10_000);
            points(settings, stream.named("pause"), FaultKind.HOST_PAUSE, 4, 60, 300);
            points(settings, stream.named("sync"), FaultKind.SYNC, 5, 10, 60);
            points(settings, stream.named("alloc"), FaultKind.ALLOC, 5, 12, 100);
            points(settings, stream.named("jit"), FaultKind.JIT, 3, 80, 500);
            points(settings, stream.named("output"), FaultKind.OUTPUT_STALL, 4, 60, 300);
            settings.faults.add(Fault.factor(FaultKind.KERNEL_SLOW, settings.at(0.5), settings.at(0.55), 1.7));
            settings.kvBlocks = 2_600;
        }
    },
    ASYNC_SCHEDULING(
            "A step is scheduled while the one before it runs; long prompts interfere",
            200,
            Cause.PREFILL_INTERFERENCE) {
        @Override
        void shape(Settings settings, RandomStream stream) {
            settings.asyncScheduling = true;
            settings.kvBlocks = 2_200;
            longPrompts(settings, stream, 14, 2_500, 10_000);
        }
    },
    UNRESOLVED("The device is silent for a while and no record says why", 200, Cause.UNRESOLVED_STALL) {
        @Override
        void shape(Settings settings, RandomStream stream) {
            points(settings, stream, FaultKind.UNRECORDED, 14, 15, 200);
        }
    },
    CLIENT_ABORT("Clients go away in the middle of their answers", 200, null) {
        @Override
        void shape(Settings settings, RandomStream stream) {
            settings.faults.add(Fault.factor(FaultKind.CLIENT_ABORT, settings.at(0.2), 2 * settings.spanNanos(), 0.25));
        }
    },
    SEVERAL_SEQUENCES(
            "Every third request asks for two to four answers; long prompts interfere",
            150,
            Cause.PREFILL_INTERFERENCE) {
        @Override
        void shape(Settings settings, RandomStream stream) {
            settings.severalShare = 0.34;
            settings.requestsPerSecond = 6;
            longPrompts(settings, stream, 12, 2_500, 12_000);
        }
    },
    DATA_PARALLEL(
            "Two data-parallel ranks share the requests, each with a scheduler and a device; long prompts interfere",
            300,
            Cause.PREFILL_INTERFERENCE) {
        @Override
        void shape(Settings settings, RandomStream stream) {
            settings.engines = 2;
            settings.requestsPerSecond = 18;
            longPrompts(settings, stream, 24, 2_500, 14_000);
            points(settings, stream.named("sync"), FaultKind.SYNC, 5, 10, 60);
        }
    };

    private final String description;
    private final int defaultRequests;
    private final @Nullable Cause tokenCause;

    Scenario(String description, int defaultRequests, @Nullable Cause tokenCause) {
        this.description = description;
        this.defaultRequests = defaultRequests;
        this.tokenCause = tokenCause;
    }

    abstract void shape(Settings settings, RandomStream stream);

    /** The name on the command line: {@code kv-pressure}. */
    public String scenarioName() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** One line that says what it is. */
    public String description() {
        return description;
    }

    /** Requests that it takes when nobody says how many. */
    public int defaultRequests() {
        return defaultRequests;
    }

    /** The cause that tokens of it are slow by; null where it makes none slow. */
    public @Nullable Cause tokenCause() {
        return tokenCause;
    }

    /** The scenario of a name; null when there is none. */
    public static @Nullable Scenario named(String name) {
        for (Scenario scenario : values()) {
            if (scenario.scenarioName().equals(name)) {
                return scenario;
            }
        }
        return null;
    }

    Settings settings(int requests, RandomStream stream) {
        Settings settings = new Settings();
        settings.requests = requests;
        shape(settings, stream);
        return settings;
    }

    // ---- what scenarios are made of

    private static void extra(Settings settings, double share, int promptTokens, int outputTokens, int priority) {
        settings.extraRequests.add(new long[] {settings.at(share), promptTokens, outputTokens, priority});
    }

    private static void longPrompts(Settings settings, RandomStream stream, int count, long least, long most) {
        for (int i = 0; i < count; i++) {
            double share = 0.2 + 0.75 * (i + 0.8 * stream.uniform(2L * i)) / count;
            extra(settings, share, (int) stream.between(2L * i + 1, least, most), 60, 0);
        }
    }

    private static void shortOnes(Settings settings) {
        settings.meanTurns = 1;
        settings.sharedPrefixTokens = 128;
        settings.leastPromptTokens = 16;
        settings.mostPromptTokens = 32;
        settings.leastOutputTokens = 60;
        settings.mostOutputTokens = 140;
    }

    /** Faults that strike once, evenly over the load after its first fifth; how long they hold is even in its logarithm. */
    private static void points(
            Settings settings, RandomStream stream, FaultKind kind, int count, double leastMillis, double mostMillis) {
        for (int i = 0; i < count; i++) {
            double share = 0.2 + 0.75 * (i + 0.8 * stream.uniform(2L * i)) / count;
            double spread = StrictMath.log(mostMillis / leastMillis);
            double millis = leastMillis * StrictMath.exp(spread * stream.uniform(2L * i + 1));
            settings.faults.add(Fault.once(kind, settings.at(share), StrictMath.round(millis * 1e6)));
        }
    }

    /** Lasting rises; with each a long context joins that takes blocks from others where {@code promptTokens} is above 0. */
    private static void stairs(Settings settings, RandomStream stream, int count, int promptTokens) {
        for (int i = 0; i < count; i++) {
            double share = 0.3 + 0.5 * (i + 0.3 * stream.uniform(2L * i)) / count;
            double height = 0.08 + 0.14 * stream.uniform(2L * i + 1);
            settings.faults.add(Fault.factor(
                    FaultKind.TIER_STAIR, settings.at(share) + 80_000_000L, 100 * settings.spanNanos(), height));
            if (promptTokens > 0) {
                extra(settings, share, promptTokens, 200, 0);
            }
        }
    }
}
