package io.tokenstair.job.rule;

import java.io.Serial;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentMap;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;

/** A sink into memory, shared by all subtasks of one run in this process. */
final class CollectedMatches implements Sink<RuleMatch> {
    @Serial
    private static final long serialVersionUID = 1L;

    private static final ConcurrentMap<String, Queue<RuleMatch>> BY_RUN = new ConcurrentHashMap<>();

    private final String run;

    CollectedMatches(String run) {
        this.run = run;
        BY_RUN.put(run, new ConcurrentLinkedQueue<>());
    }

    Queue<RuleMatch> matches() {
        return BY_RUN.getOrDefault(run, new ConcurrentLinkedQueue<>());
    }

    @Override
    public SinkWriter<RuleMatch> createWriter(WriterInitContext context) {
        Queue<RuleMatch> matches = matches();
        return new SinkWriter<>() {
            @Override
            public void write(RuleMatch match, Context writeContext) {
                matches.add(match);
            }

            @Override
            public void flush(boolean endOfInput) {}

            @Override
            public void close() {}
        };
    }
}
