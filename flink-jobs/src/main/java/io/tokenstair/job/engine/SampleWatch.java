package io.tokenstair.job.engine;

import io.tokenstair.archive.result.Remark;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.MetricSampled;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Samples that are no scrape of an engine's load: aggregates of benchmark runs, figures of a workload, durations of single requests. A
 * key has one kind of them.
 */
public class SampleWatch {
    public RunSeries runs = new RunSeries();
    public WorkloadFigures workload = new WorkloadFigures();
    public RequestTimes requests = new RequestTimes();
    public FullContexts contexts = new FullContexts();
    public ForwardPasses passes = new ForwardPasses();

    /** For Flink's serializer. */
    public SampleWatch() {}

    /** What a sample speaks of; null where it is none of these. */
    static @Nullable String subjectOf(MetricSampled sample) {
        if (sample.name().startsWith(RunSeries.PREFIX)) {
            return RunSeries.subjectOf(sample);
        }
        if (sample.name().startsWith(WorkloadFigures.PREFIX)) {
            String trace = EngineMetric.label(sample.labels(), "trace");
            return trace.isEmpty() ? sample.source() : trace;
        }
        if (FullContexts.isOne(sample)) {
            return FullContexts.SUBJECT;
        }
        if (RequestTimes.isOfRequest(sample) || ForwardPasses.isOne(sample)) {
            String engine = EngineMetric.label(sample.labels(), "engine");
            return engine.isEmpty() ? sample.source() : engine;
        }
        return null;
    }

    /** Takes a sample; passes over any other kind. */
    public void accept(EventHeader header, MetricSampled sample) {
        if (sample.name().startsWith(RunSeries.PREFIX)) {
            runs.accept(header.eventId(), sample);
        } else if (sample.name().startsWith(WorkloadFigures.PREFIX)) {
            workload.accept(header.eventId(), sample);
        } else if (RequestTimes.isOfRequest(sample)) {
            requests.accept(header, sample);
        } else if (FullContexts.isOne(sample)) {
            contexts.accept(header, sample);
        } else if (ForwardPasses.isOne(sample)) {
            passes.accept(header, sample);
        }
    }

    /** The input has ended. */
    public void finish(String subject, Consumer<Remark> output) {
        runs.finish(subject, output);
        workload.finish(subject, output);
        requests.finish(subject, output);
        contexts.finish(subject, output);
        passes.finish(subject, output);
    }
}
