package io.tokenstair.look.otlp;

import com.google.protobuf.ByteString;
import org.jspecify.annotations.Nullable;

/**
 * Where the spans of a request belong.
 *
 * @param traceId the trace that came with the request, else one made of its id
 * @param parentSpanId the span it came from; absent when none is known
 * @param incoming true when the trace came with the request, so that its spans join those of the engine and of the client
 * @param model served model name; absent when nothing says
 * @param operation what was asked for, as the conventions name it: chat, else text_completion
 */
record TraceContext(
        ByteString traceId,
        @Nullable ByteString parentSpanId,
        boolean incoming,
        @Nullable String model,
        String operation) {}
