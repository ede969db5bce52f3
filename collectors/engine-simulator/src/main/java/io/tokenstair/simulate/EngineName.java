package io.tokenstair.simulate;

/**
 * One scheduler of a run: a data-parallel rank has its own, with a device of its own, on the same host.
 *
 * @param rank its data-parallel rank, from 0
 */
record EngineName(int rank) {
    /** The id that its events carry. */
    String engineId() {
        return "sim-" + rank;
    }

    /** Its device. */
    String deviceId() {
        return "gpu-" + rank;
    }

    /** A collector beside it; the first rank's have no number. */
    String collector(String name) {
        return rank == 0 ? name : name + "-" + rank;
    }

    /** Its own random numbers; those of the first rank are what they were with one alone. */
    RandomStream stream(RandomStream whole) {
        return rank == 0 ? whole : whole.named("rank").numbered(rank);
    }
}
