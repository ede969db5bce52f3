package io.tokenstair.simulate;

import io.tokenstair.cause.Cause;
import io.tokenstair.event.LoggedEvent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A run of a scenario: the events that its collectors logged, in the order of the log, and beside them the truth. The same scenario,
 * seed, number of requests and layers give the same run.
 *
 * @param events what the product may know
 * @param tokens the truth about each token, by request in the order of sending, by token
 * @param staircases the truth about level rises
 * @param faults what was injected
 * @param requests what became of each sequence, by engine in the order of queueing
 * @param steps what each step did, by engine in order
 */
public record Simulation(
        List<LoggedEvent> events,
        List<TokenTruth> tokens,
        List<StaircaseTruth> staircases,
        List<FaultTruth> faults,
        List<RequestTruth> requests,
        List<StepTruth> steps) {

    /** How long records go on after the last step. */
    private static final long AFTER_NANOS = 400_000_000L;

    private static final long GATEWAY_NANOS = 40_000;
    /** From the last token that a client wants to see to its going away. */
    private static final long CLOSING_NANOS = 500_000;

    private static final long INGEST_NANOS = 1_200_000;
    private static final double INGEST_JITTER_NANOS = 250_000;

    /** Copies the lists. */
    public Simulation {
        events = List.copyOf(events);
        tokens = List.copyOf(tokens);
        staircases = List.copyOf(staircases);
        faults = List.copyOf(faults);
        requests = List.copyOf(requests);
        steps = List.copyOf(steps);
    }

    /** Runs a scenario. */
    public static Simulation run(Scenario scenario, long seed, int requests, Layers layers) {
        return run(scenario, seed, requests, layers, Set.of());
    }

    /** Runs a scenario without the faults of some causes: everything else is drawn as with them. */
    public static Simulation run(Scenario scenario, long seed, int requests, Layers layers, Set<Cause> off) {
        RandomStream stream = RandomStream.ofSeed(seed).named(scenario.scenarioName());
        Settings settings = scenario.settings(requests, stream.named("scenario"));
        settings.without(off);
        return run(settings, stream, layers);
    }

    static Simulation run(Settings settings, RandomStream stream, Layers layers) {
        List<RequestPlan> plans = new Workload(settings, stream.named("workload")).requests();
        return new Run(settings, stream, layers, plans).simulate();
    }

    /** One run while it goes on. */
    private static final class Run {
        private final Settings settings;
        private final RandomStream stream;
        private final boolean all;
        private final List<RequestPlan> plans;
        private final long[] gatewayNanos;
        private final long[] engineNanos;
        private final Hosts hosts;
        private final EventLog log;
        private final List<StaircaseSeries> series = new ArrayList<>();
        private final Map<Integer, Made[]> made = new HashMap<>();
        private final List<FaultTruth> faults = new ArrayList<>();
        private final Map<String, Long> ttftNanos = new HashMap<>();
        private long endNanos;

        /** The tokens of a sequence. */
        private static final class Made {
            private final long[] nanos;
            private final int[] row;
            private final List<TokenTruth> truth = new ArrayList<>();
            private final StaircaseSeries series;

            Made(Sequence sequence) {
                nanos = new long[sequence.outputTokens()];
                row = new int[sequence.outputTokens()];
                String id = sequence.plan.requestId();
                series = new StaircaseSeries("request", sequence.choice == 0 ? id : id + "#" + sequence.choice);
            }
        }

        Run(Settings settings, RandomStream stream, Layers layers, List<RequestPlan> plans) {
            this.settings = settings;
            this.stream = stream;
            this.all = layers == Layers.ALL;
            this.plans = plans;
            this.gatewayNanos = new long[plans.size()];
            this.engineNanos = new long[plans.size()];
            this.hosts = new Hosts(settings, stream.named("clocks"));
            this.log = new EventLog(hosts.wall);
        }

        Simulation simulate() {
            List<Rank> ranks = new ArrayList<>();
            for (int rank = 0; rank < settings.engines; rank++) {
                ranks.add(new Rank(new EngineName(rank)));
            }
            for (Fault fault : settings.faults) {
                if (!fault.kind().strikesOnce()) {
                    struck(fault, fault.fromNanos(), fault.toNanos(), null);
                }
            }
            long[] arrivals = arrivals();
            for (Rank rank : ranks) {
                rank.run(arrivals);
            }
            List<TokenTruth> tokens = new ArrayList<>();
            ObserverRecords observers = new ObserverRecords(settings, hosts, log);
            for (RequestPlan plan : plans) {
                deliver(plan, observers, tokens);
            }
            endNanos += AFTER_NANOS;
            hosts.sample(log, endNanos, all);
            if (all) {
                for (Rank rank : ranks) {
                    rank.deviceRecords.sampleDevice(endNanos);
                    rank.hostRecords.sampleThreads(endNanos);
                }
            }
            List<StaircaseTruth> staircases = new ArrayList<>();
            for (StaircaseSeries one : series) {
                StaircaseTruth truth = one.truth(settings.faults);
                if (truth != null) {
                    staircases.add(truth);
                }
            }
            List<RequestTruth> requests = new ArrayList<>();
            List<StepTruth> steps = new ArrayList<>();
            for (Rank rank : ranks) {
                requests.addAll(rank.schedule.requests(ttftNanos));
                steps.addAll(rank.schedule.steps());
            }
            return new Simulation(
                    log.records(settings.faults, stream.named("log")), tokens, staircases, faults, requests, steps);
        }

        private long[] arrivals() {
            RandomStream ways = stream.named("arrival");
            for (RequestPlan plan : plans) {
                int i = plan.number();
                gatewayNanos[i] =
                        plan.sentNanos() + settings.clientNetworkNanos + (long) ways.exponential(3L * i, 30_000);
                engineNanos[i] = gatewayNanos[i]
                        + GATEWAY_NANOS
                        + settings.networkNanos
                        + INGEST_NANOS
                        + (long) ways.exponential(3L * i + 1, INGEST_JITTER_NANOS);
            }
            long[] arrivals = engineNanos.clone();
            // The engine core takes them in the order in which their sending was planned.
            for (int i = 1; i < arrivals.length; i++) {
                arrivals[i] = Math.max(arrivals[i], arrivals[i - 1]);
            }
            return arrivals;
        }

        private void deliver(RequestPlan plan, ObserverRecords observers, List<TokenTruth> tokens) {
            Made[] sequences = made.get(plan.number());
            if (sequences == null) {
                return;
            }
            List<List<DeliveryPath.Hop>> ways = new ArrayList<>();
            RandomStream own = stream.named("delivery").numbered(plan.number());
            for (int choice = 0; choice < sequences.length; choice++) {
                Made of = sequences[choice];
                if (of == null) {
                    // Given up before its first token.
                    ways.add(List.of());
                    continue;
                }
                int count = of.truth.size();
                long[] nanos = Arrays.copyOf(of.nanos, count);
                int[] row = Arrays.copyOf(of.row, count);
                DeliveryPath path = new DeliveryPath(
                        settings, choice == 0 ? own : own.named("choice").numbered(choice));
                List<DeliveryPath.Hop> hops = path.hops(nanos, row);
                List<Map<Cause, Long>> late = path.lateNanos(nanos, row);
                for (int token = 0; token < count; token++) {
                    tokens.add(of.truth.get(token).withDelivery(late.get(token)));
                }
                ways.add(hops);
                ttftNanos.put(plan.requestId() + '#' + choice, hops.get(0).clientNanos() - plan.sentNanos());
                endNanos = Math.max(endNanos, hops.get(hops.size() - 1).clientNanos());
            }
            int kept = plan.abortAfterTokens();
            long closed = kept > 0 && ways.get(0).size() >= kept
                    ? ways.get(0).get(kept - 1).clientNanos() + CLOSING_NANOS
                    : Long.MAX_VALUE;
            observers.request(plan, gatewayNanos[plan.number()], ways, closed);
        }

        private void struck(Fault fault, long fromNanos, long toNanos, @Nullable StepRun step) {
            faults.add(new FaultTruth(
                    fault.kind().faultName(),
                    fault.kind().cause(),
                    hosts.epochNanos(fromNanos),
                    hosts.epochNanos(toNanos),
                    fault.sizeNanos() == 0 ? null : fault.sizeNanos(),
                    fault.factor() == 1 ? null : fault.factor(),
                    step == null ? null : step.stepId));
        }

        /** What becomes of one engine. */
        private final class Rank implements EngineListener {
            private final EngineName name;
            private final EngineRecords engineRecords;
            private final DeviceRecords deviceRecords;
            private final HostRecords hostRecords;
            private final StaircaseSeries engineSeries;
            private final ScheduleTruth schedule;

            Rank(EngineName name) {
                this.name = name;
                this.engineRecords =
                        new EngineRecords(name, settings, hosts, log, name.stream(stream.named("records")));
                this.deviceRecords = new DeviceRecords(name, settings, hosts, log, name.stream(stream.named("device")));
                this.hostRecords = new HostRecords(name, hosts, log);
                this.schedule = new ScheduleTruth(name.engineId());
                this.engineSeries = new StaircaseSeries("engine", name.engineId());
                series.add(engineSeries);
                engineRecords.configured(-2_000_000_000L);
                if (settings.loadsShards) {
                    double slower = 1;
                    for (Fault fault : settings.faults) {
                        slower *= fault.kind() == FaultKind.SLOW_LOAD ? fault.factor() : 1;
                    }
                    engineRecords.loaded(slower);
                }
            }

            /** Serves every so-manieth request. */
            void run(long[] arrivals) {
                List<RequestPlan> own = new ArrayList<>();
                List<Long> when = new ArrayList<>();
                for (RequestPlan plan : plans) {
                    if (plan.number() % settings.engines == name.rank()) {
                        own.add(plan);
                        when.add(arrivals[plan.number()]);
                    }
                }
                long[] ownArrivals = when.stream().mapToLong(Long::longValue).toArray();
                new Engine(settings, name.stream(stream.named("engine")), own, ownArrivals, this).run();
            }

            @Override
            public void queued(Sequence sequence) {
                schedule.queued(sequence);
                engineRecords.queued(sequence, engineNanos[sequence.plan.number()]);
            }

            @Override
            public void preempted(
                    Sequence sequence, long stepId, long atNanos, int hadTokens, Sequence wantedBy, int freeBlocks) {
                schedule.preempted(sequence, stepId);
                engineRecords.preempted(sequence, stepId, atNanos, hadTokens, wantedBy, freeBlocks);
            }

            @Override
            public void transferred(Sequence sequence, Cause cause, long fromNanos, long toNanos, int tokens) {
                engineRecords.transferred(sequence, cause, fromNanos, toNanos, tokens);
            }

            @Override
            public void lookedUp(Sequence sequence, long atNanos, int queriedTokens, int hitTokens) {
                engineRecords.lookedUp(sequence.recovering, atNanos, queriedTokens, hitTokens);
            }

            @Override
            public void stepped(StepRun step) {
                schedule.stepped(step);
                engineRecords.stepped(step);
                if (all) {
                    deviceRecords.stepped(step);
                    hostRecords.stepped(step);
                }
                engineSeries.add(step.stepId, step.scheduleStartNanos);
                endNanos = Math.max(endNanos, step.updateEndNanos);
            }

            @Override
            public void produced(Sequence sequence, int tokenIndex, StepRun step, int row, TokenTruth truth) {
                Made[] sequences =
                        made.computeIfAbsent(sequence.plan.number(), number -> new Made[sequence.plan.choices()]);
                Made of = sequences[sequence.choice];
                if (of == null) {
                    of = new Made(sequence);
                    sequences[sequence.choice] = of;
                    series.add(of.series);
                }
                of.nanos[tokenIndex] = step.updateEndNanos;
                of.row[tokenIndex] = row;
                of.truth.add(truth);
                of.series.add(tokenIndex, step.scheduleStartNanos);
            }

            @Override
            public void finished(Sequence sequence, StepRun step) {
                engineRecords.finished(sequence, step);
            }

            @Override
            public void aborted(Sequence sequence, long atNanos) {
                schedule.aborted(sequence);
                engineRecords.aborted(sequence, atNanos);
            }

            @Override
            public void struck(Fault fault, long fromNanos, long toNanos, @Nullable StepRun step) {
                Run.this.struck(fault, fromNanos, toNanos, step);
            }
        }
    }
}
