package io.tokenstair.job.statistics;

/** What a quantile is taken over. */
public enum Scope {
    /** One priority of one engine. */
    PRIORITY("priority"),
    /** One engine, all priorities. */
    ENGINE("engine"),
    /** One model, all engines and priorities. */
    MODEL("model");

    private final String scopeName;

    Scope(String scopeName) {
        this.scopeName = scopeName;
    }

    /** Its name in the archive. */
    public String scopeName() {
        return scopeName;
    }
}
