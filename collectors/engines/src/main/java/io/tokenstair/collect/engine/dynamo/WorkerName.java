package io.tokenstair.collect.engine.dynamo;

/** What a Dynamo worker is called as an engine. Its id is a number, which alone would be taken for a rank. */
final class WorkerName {
    private WorkerName() {}

    /** The engine's name. */
    static String of(String workerId) {
        return workerId.chars().allMatch(Character::isDigit) ? "worker-" + workerId : workerId;
    }
}
