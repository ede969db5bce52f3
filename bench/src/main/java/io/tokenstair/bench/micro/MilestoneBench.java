package io.tokenstair.bench.micro;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.job.request.RequestInput;
import io.tokenstair.job.request.RequestLife;
import io.tokenstair.job.request.RequestOutput;
import io.tokenstair.job.request.RequestState;
import io.tokenstair.job.step.SequenceFact;
import io.tokenstair.job.step.SequenceName;
import io.tokenstair.milestone.Milestone;
import io.tokenstair.rule.library.RuleLibrary;
import io.tokenstair.rule.match.RuleActivity;
import io.tokenstair.rule.match.RuleMatcher;
import io.tokenstair.rule.match.RuleProgress;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;

/**
 * Nanoseconds per milestone, of requests that lose their blocks again and again: the most milestones a request can make. There is about
 * one milestone in a hundred tokens, so a token pays the hundredth part.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@OperationsPerInvocation(MilestoneBench.MILESTONES)
@Fork(1)
@Warmup(iterations = 4, time = 1)
@Measurement(iterations = 5, time = 1)
public class MilestoneBench {
    private static final int REQUESTS = 64;
    private static final int PREEMPTIONS = 8;

    /** Two of each preemption, and one of each end. */
    static final int MILESTONES = REQUESTS * (2 * PREEMPTIONS + 1);

    private final List<List<RequestInput>> requests = new ArrayList<>();
    private final List<Milestone> milestones = new ArrayList<>();
    private final List<RuleMatcher> matchers = new ArrayList<>();
    private final TypeSerializer<Milestone> serializer =
            TypeInformation.of(Milestone.class).createSerializer(new SerializerConfigImpl());
    private final DataOutputSerializer out = new DataOutputSerializer(1 << 12);
    private final DataInputDeserializer in = new DataInputDeserializer();

    /** For JMH: facts of the requests, and the milestones that they make. */
    public MilestoneBench() {
        for (int request = 0; request < REQUESTS; request++) {
            List<RequestInput> facts = new ArrayList<>();
            SequenceName name = SequenceName.of("engine-0", "request-" + request);
            facts.add(fact(name, SequenceFact.Kind.QUEUED, facts.size()));
            facts.add(fact(name, SequenceFact.Kind.SCHEDULED, facts.size()));
            for (int i = 0; i < PREEMPTIONS; i++) {
                facts.add(fact(name, SequenceFact.Kind.PREEMPTED, facts.size()));
                facts.add(fact(name, SequenceFact.Kind.RESUMED, facts.size()));
            }
            facts.add(fact(name, SequenceFact.Kind.FINISHED, facts.size()));
            requests.add(facts);
        }
        live(new Milestones(milestones::add));
        RuleLibrary.builtIn().rules().forEach(rule -> matchers.add(new RuleMatcher(rule)));
    }

    private static RequestInput fact(SequenceName name, SequenceFact.Kind kind, int place) {
        SequenceFact fact = new SequenceFact();
        fact.kind = kind;
        fact.name = name;
        fact.clockId = "clock-0";
        fact.coarseEpochMillis = 1_700_000_000_000L + 20L * place;
        fact.clockNanos = 20_000_000L * place;
        fact.eventId = "collector-0/1/" + place;
        fact.tokens = 512L;
        fact.stepId = (long) place;
        return RequestInput.of(fact);
    }

    private void live(RequestOutput output) {
        for (List<RequestInput> facts : requests) {
            RequestLife life = new RequestLife(facts.get(0).requestId, new RequestState(), output);
            for (RequestInput input : facts) {
                life.accept(input);
            }
        }
    }

    /** Facts to milestones, with all else that a request does with a fact. */
    @Benchmark
    public void makeMilestones(Blackhole hole) {
        live(new Milestones(hole::consume));
    }

    /** Milestones to bytes between operators and back. */
    @Benchmark
    public void exchangeMilestones(Blackhole hole) throws IOException {
        for (Milestone milestone : milestones) {
            out.clear();
            serializer.serialize(milestone, out);
            in.setBuffer(out.getSharedBuffer(), 0, out.length());
            hole.consume(serializer.deserialize(in));
        }
    }

    /** All built-in rules over each milestone: whether it takes part, and what it begins, continues or completes. */
    @Benchmark
    public void matchRules(Blackhole hole) {
        RuleActivity activity = new RuleActivity();
        for (RuleMatcher matcher : matchers) {
            String key = "";
            RuleProgress progress = new RuleProgress();
            for (Milestone milestone : milestones) {
                String of = matcher.rule().key().of(milestone);
                if (of == null || !matcher.takesPart(milestone)) {
                    continue;
                }
                // Milestones of a key come together: a new key begins with nothing remembered.
                if (!Objects.equals(key, of)) {
                    key = of;
                    progress = new RuleProgress();
                }
                matcher.take(progress, milestone, activity, hole::consume);
            }
        }
        hole.consume(activity);
    }

    /** Takes milestones, and nothing else. */
    private record Milestones(Consumer<Milestone> to) implements RequestOutput {
        @Override
        public void token(TokenAnalysis token) {
            // There is none.
        }

        @Override
        public void request(RequestAnalysis request) {
            // None is closed.
        }

        @Override
        public void finding(Finding finding) {
            // Nor is anything found before.
        }

        @Override
        public void milestone(Milestone milestone) {
            to.accept(milestone);
        }
    }
}
