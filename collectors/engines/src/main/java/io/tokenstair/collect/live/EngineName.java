package io.tokenstair.collect.live;

/** What engines are called. */
public final class EngineName {
    private EngineName() {}

    /** The engine of a data-parallel rank: each is an engine of its own. */
    public static String ofRank(String engineName, int rank) {
        return rank == 0 ? engineName : engineName + "-dp" + rank;
    }
}
