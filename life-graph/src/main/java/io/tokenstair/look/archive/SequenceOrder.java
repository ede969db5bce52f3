package io.tokenstair.look.archive;

/** Orders in which sequences can be listed. */
public enum SequenceOrder {
    /** Most time lost first. */
    WORST("s.lost_nanos desc, s.state_rank desc nulls last, s.slow_tokens desc, s.late_tokens desc"),
    /** As they came. */
    TIME("s.from_epoch_nanos nulls last"),
    /** By id. */
    ID("s.request_id"),
    /** Longest first. */
    TOKENS("s.token_count desc nulls last");

    private static final String TIES = ", s.from_epoch_nanos nulls last, s.request_id, s.lifetime, s.sequence_index";

    private final String sql;

    SequenceOrder(String sql) {
        this.sql = sql + TIES;
    }

    String sql() {
        return sql;
    }
}
