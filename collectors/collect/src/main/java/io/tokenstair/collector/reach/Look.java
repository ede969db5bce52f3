package io.tokenstair.collector.reach;

/**
 * One thing that a collector needs and that can be looked at before it starts.
 *
 * @param subject the option it is about, such as upstream
 * @param address its address or path, as it was given
 * @param way how it is looked at: changes nothing, sends no prompt, empties nothing; interrupted when it takes too long
 */
public record Look(String subject, String address, Way way) {

    /** How something is looked at. */
    public interface Way {
        /**
         * Looks once.
         *
         * @throws Exception whatever happens; it is told as a failure
         */
        Seen look() throws Exception;
    }
}
