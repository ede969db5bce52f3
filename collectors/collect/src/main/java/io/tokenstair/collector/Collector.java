package io.tokenstair.collector;

import io.tokenstair.collector.reach.FoundServer;
import io.tokenstair.collector.reach.Look;
import io.tokenstair.log.LogOutlet;
import io.tokenstair.server.HealthFigure;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A kind of live collector, as {@code tokenstair collect} knows it. To add one: implement this, and name it in {@link Collectors}. */
interface Collector {
    /** Its word on the command line and in the configuration file. */
    String type();

    /** What it does, in one line. */
    String summary();

    /** Its options, in the order they are shown. */
    List<Option> options();

    /**
     * Refuses options of which each is valid and that cannot be used together. Nothing is started, read or looked up.
     *
     * @throws CollectorException why they cannot, and what to do
     */
    default void check(OptionValues values) throws CollectorException {}

    /**
     * Starts it.
     *
     * @param name its name, the collector id of what it logs; unique in this process
     * @param values its options, each valid on its own
     * @param outlet the way to the log
     * @throws CollectorException where it cannot start: what, and what to do
     */
    Running start(String name, OptionValues values, LogOutlet outlet) throws CollectorException;

    /**
     * What {@code tokenstair doctor} looks at before it is started with these options: its engine's addresses, its own ports, its files.
     * Nothing that changes the engine, sends a prompt or empties what is read.
     *
     * @throws CollectorException where the options cannot be used together
     */
    default List<Look> looks(OptionValues values) throws CollectorException {
        return List.of();
    }

    /**
     * The options, as one types them, to collect from a server that was found on this machine; null where it is none for this
     * collector.
     */
    default @Nullable String optionsFor(FoundServer server) {
        return null;
    }

    /** A collector that runs. */
    interface Running extends AutoCloseable {
        /** How it fares, in one line. */
        String status();

        /** What it can never tell, in a few words: said once, so that nobody looks for it. Empty where its page says it all. */
        default String cannotKnow() {
            return "";
        }

        /** How it fares, in figures for {@code /metrics}; empty where its page tells them. */
        default List<HealthFigure> health() {
            return List.of();
        }

        /** Ends it: what it has seen is offered to the outlet, nothing more is taken. */
        @Override
        void close();
    }
}
