package io.tokenstair.job.name;

import io.tokenstair.job.request.RequestInput;
import org.apache.flink.api.common.functions.FlatMapFunction;
import org.apache.flink.util.Collector;

/** Gives what was heard of a request to the request that its name means. No state. */
public final class JoinNames implements FlatMapFunction<RequestInput, RequestInput> {
    private static final long serialVersionUID = 1L;

    private final JoinedNames names;

    /** With the names that are joined. */
    public JoinNames(JoinedNames names) {
        this.names = names;
    }

    @Override
    public void flatMap(RequestInput input, Collector<RequestInput> out) {
        RequestInput joined = names.join(input);
        if (joined != null) {
            out.collect(joined);
        }
    }
}
