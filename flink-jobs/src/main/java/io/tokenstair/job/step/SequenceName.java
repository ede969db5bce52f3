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
