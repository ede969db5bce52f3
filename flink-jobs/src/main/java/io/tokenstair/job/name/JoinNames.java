package io.tokenstair.job.name;

import io.tokenstair.job.request.RequestInput;
import org.apache.flink.api.common.functions.MapFunction;

/** Gives what was heard of a request to the request that its name means. No state. */
public final class JoinNames implements MapFunction<RequestInput, RequestInput> {
    private static final long serialVersionUID = 1L;

    private final JoinedNames names;

    /** With the names that are joined. */
    public JoinNames(JoinedNames names) {
        this.names = names;
    }

    @Override
    public RequestInput map(RequestInput input) {
        return names.join(input);
    }
}
