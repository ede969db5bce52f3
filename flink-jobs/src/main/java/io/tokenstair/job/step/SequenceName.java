package io.tokenstair.job.step;

/** Which sequence of which engine something belongs to. */
public class SequenceName {
    public String engineId = "";
    public String engineRequestId = "";
    public String requestId = "";
    public String unique = "";
    public int promptIndex;
    public int choice;

    /** For Flink's serializer. */
    public SequenceName() {}

    /** The same sequence, of a request of another id. */
    public SequenceName renamed(String joinedRequestId) {
        SequenceName name = new SequenceName();
        name.engineId = engineId;
        name.engineRequestId = engineRequestId;
        name.requestId = joinedRequestId;
        name.unique = unique;
        name.promptIndex = promptIndex;
        name.choice = choice;
        return name;
    }

    /** The sequence of an engine's own id. */
    public static SequenceName of(String engineId, String engineRequestId) {
        EngineRequestName parsed = EngineRequestName.of(engineRequestId);
        SequenceName name = new SequenceName();
        name.engineId = engineId;
        name.engineRequestId = engineRequestId;
        name.requestId = parsed.requestId();
        name.unique = parsed.unique();
        name.promptIndex = parsed.promptIndex();
        name.choice = parsed.choice();
        return name;
    }
}
