package io.tokenstair.gateway;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** How the body of an answer is read. */
enum AnswerForm {
    /** Server-sent events. */
    EVENTS,
    /** One JSON object. */
    JSON,
    /** Length-prefixed gRPC messages. */
    GRPC,
    /** Not at all: another type, or compressed. Its tokens stay unknown. */
    UNREAD;

    /** The form that the headers of an answer tell. */
    static AnswerForm of(@Nullable String contentType, @Nullable String contentEncoding) {
        if (contentEncoding != null && !contentEncoding.equalsIgnoreCase("identity")) {
            return UNREAD;
        }
        String type = contentType == null ? "" : contentType.strip().toLowerCase(Locale.ROOT);
        if (type.startsWith("text/event-stream")) {
            return EVENTS;
        }
        if (type.startsWith("application/grpc")) {
            return GRPC;
        }
        return type.startsWith("application/json") ? JSON : UNREAD;
    }
}
