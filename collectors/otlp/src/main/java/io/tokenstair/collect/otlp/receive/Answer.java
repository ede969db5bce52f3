package io.tokenstair.collect.otlp.receive;

/**
 * What is answered to a request.
 *
 * @param kind which answer
 * @param rejectedItems items that were refused or lost, of a request that was taken
 * @param message why something was refused; empty where nothing was
 */
record Answer(Kind kind, long rejectedItems, String message) {
    /** The answers there are, with their codes in both protocols. */
    enum Kind {
        /** Taken, all of it or in part. */
        TAKEN(200, 0),
        /** Cannot be read: sending it again is in vain. */
        UNREADABLE(400, 3),
        /** It does not bring what this receiver asks for. */
        UNKNOWN_SENDER(401, 16),
        /** No such path or method. */
        UNKNOWN(404, 12),
        /** Not a POST. */
        NOT_POST(405, 12),
        /** It did not arrive in time. */
        SLOW(408, 4),
        /** Larger than is taken: sending it again is in vain. */
        TOO_LARGE(413, 8),
        /** A content type or an encoding that is not known. */
        UNSUPPORTED(415, 12),
        /** No room at the moment: send it again. */
        BUSY(429, 14);

        private final int httpStatus;
        private final int grpcStatus;

        Kind(int httpStatus, int grpcStatus) {
            this.httpStatus = httpStatus;
            this.grpcStatus = grpcStatus;
        }

        int httpStatus() {
            return httpStatus;
        }

        int grpcStatus() {
            return grpcStatus;
        }
    }

    static Answer refused(Kind kind, String message) {
        return new Answer(kind, 0, message);
    }
}
