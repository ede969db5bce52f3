package io.tokenstair.collect.vllm;

/**
 * The names that the events of one capture carry.
 *
 * @param collectorEpoch when the capture was recorded, in epoch seconds, plus its place in the import: another recording of the same
 *     engine is another start of its collectors, the same recording imported again is the same
 * @param clockId the monotonic clock of its host
 * @param wallClockId the wall clock of its host
 * @param engineId its engine
 * @param hostId its machine
 */
record CaptureIdentity(long collectorEpoch, String clockId, String wallClockId, String engineId, String hostId) {

    /** The names of capture {@code index} of {@code count}; a capture imported alone carries no number. */
    static CaptureIdentity of(int index, int count, long recordedSeconds) {
        String place = count == 1 ? "capture" : String.valueOf(index);
        return new CaptureIdentity(
                recordedSeconds + index,
                "monotonic@" + place,
                "wall@" + place,
                "vllm-" + (count == 1 ? "0" : String.valueOf(index)),
                "host@" + place);
    }
}
