package io.tokenstair.collector;

import io.tokenstair.log.LogOutlet;
import java.util.List;

/** A kind of live collector, as {@code tokenstair collect} knows it. To add one: implement this, and name it in {@link Collectors}. */
interface Collector {
    /** Its word on the command line and in the configuration file. */
    String type();

    /** What it does, in one line. */
    String summary();

    /** Its options, in the order they are shown. */
    List<Option> options();

    /**
     * Starts it.
     *
     * @param name its name, the collector id of what it logs; unique in this process
     * @param values its options, each valid on its own
     * @param outlet the way to the log
     * @throws CollectorException where it cannot start: what, and what to do
     */
    Running start(String name, OptionValues values, LogOutlet outlet) throws CollectorException;

    /** A collector that runs. */
    interface Running extends AutoCloseable {
        /** How it fares, in one line. */
        String status();

        /** Ends it: what it has seen is offered to the outlet, nothing more is taken. */
        @Override
        void close();
    }
}
