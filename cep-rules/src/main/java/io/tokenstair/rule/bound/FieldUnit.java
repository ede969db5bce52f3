package io.tokenstair.rule.bound;

/** What a field counts or measures. Values of different units are never compared. */
public enum FieldUnit {
    /** A name: text. */
    NAME("text"),
    /** A cause of the closed list: only compared with names of that list. */
    CAUSE("cause"),
    /** A priority, smaller is more urgent: whole number. */
    PRIORITY("priority"),
    /** Sequences of a batch: whole number. */
    SEQUENCES("sequences"),
    /** A place in an order, from 0: whole number. */
    ORDINAL("ordinal"),
    /** Tokens: whole number. */
    TOKENS("tokens"),
    /** KV blocks: whole number. */
    BLOCKS("blocks"),
    /** A share from 0 to 1: decimal number. */
    RATIO("ratio"),
    /** A length of time, read as nanoseconds. */
    DURATION("duration"),
    /** A stamp of the engine's clock, read as nanoseconds: it has no known zero, so only differences mean something. */
    ENGINE_TIME("time of the engine's clock");

    private final String unitName;

    FieldUnit(String unitName) {
        this.unitName = unitName;
    }

    /** The name people see. */
    public String unitName() {
        return unitName;
    }
}
