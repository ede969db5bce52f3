package io.tokenstair.collect.stream;

/** The id of an answer in its stream, and the engine's or router's own id inside it. */
public final class AnswerId {
    private AnswerId() {}

    /** The id without what an OpenAI-compatible server puts before it: {@code cmpl-}, {@code chatcmpl-}. */
    public static String core(String id) {
        for (String prefix : new String[] {"chatcmpl-", "cmpl-"}) {
            if (id.startsWith(prefix) && id.length() > prefix.length()) {
                return id.substring(prefix.length());
            }
        }
        return id;
    }
}
