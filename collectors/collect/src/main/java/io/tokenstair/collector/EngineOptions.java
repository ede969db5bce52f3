package io.tokenstair.collector;

import io.tokenstair.clock.HostClocks;
import io.tokenstair.collect.live.EventOut;
import io.tokenstair.collector.reach.Engine;
import io.tokenstair.collector.reach.Look;
import io.tokenstair.collector.reach.MetricsLook;
import io.tokenstair.collector.reach.ZeroMqLook;
import io.tokenstair.log.LogOutlet;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The settings that collectors of engines have in common, and how they run. */
final class EngineOptions {
    static final String ENGINE = "engine";
    static final String METRICS = "metrics";
    static final String METRICS_EVERY = "metrics-every";
    static final String KV_EVENTS = "kv-events";
    static final String KV_REPLAY = "kv-replay";
    static final String KV_TOPIC = "kv-topic";
    static final String FPM = "fpm";
    static final String BEGIN = "begin";

    private EngineOptions() {}

    static Option kvEvents() {
        return Option.optional(
                KV_EVENTS, OptionKind.SOCKETS, "Publishers of KV events, one a data-parallel rank, with commas.");
    }

    static Option kvReplay() {
        return Option.optional(
                        KV_REPLAY,
                        OptionKind.SOCKETS,
                        "Their replay endpoints, in the same order: missed messages again.")
                .like("tcp://127.0.0.1:5558");
    }

    static Option kvTopic() {
        return Option.optional(KV_TOPIC, OptionKind.TEXT, "Only messages whose topic begins so.");
    }

    static Option metricsEvery() {
        return Option.of(METRICS_EVERY, OptionKind.DURATION, "1s", "How often; ever more rarely while it fails.");
    }

    static Option begin() {
        return Option.choice(
                BEGIN, List.of("end", "start"), "end", "Where to begin in a file that exists: its end, or its start.");
    }

    /** A text with commas in parts; empty where none was given. */
    static List<String> list(@Nullable String texts) {
        return texts == null || texts.isBlank()
                ? List.of()
                : List.of(texts.strip().split("\\s*,\\s*", -1));
    }

    static List<URI> pages(@Nullable String texts) {
        List<URI> pages = new ArrayList<>();
        list(texts).forEach(text -> pages.add(URI.create(text)));
        return pages;
    }

    static @Nullable URI page(OptionValues values, String name) throws CollectorException {
        List<URI> pages = pages(values.optionalText(name));
        if (pages.size() > 1) {
            throw new CollectorException(name + ": one address is wanted, not " + pages.size());
        }
        return pages.isEmpty() ? null : pages.get(0);
    }

    static String orEmpty(@Nullable String text) {
        return text == null ? "" : text;
    }

    /** The way to the log of a collector of this name, whose clocks are told there once a second. */
    static EventOut out(String name, LogOutlet outlet) {
        outlet.feed(name).beat(HostClocks.sampler());
        return (id, clock, nanos, event) -> outlet.feed(id).offer(clock, nanos, event);
    }

    /**
     * What is looked at before a collector with these options starts.
     *
     * @param engine whose metrics are wanted
     * @param title how the engine is called in sentences
     */
    static List<Look> looks(OptionValues values, Engine engine, String title) {
        List<Look> looks = new ArrayList<>();
        for (String publisher : list(values.optionalText(FPM))) {
            looks.add(
                    ZeroMqLook.at(FPM, publisher, List.of("PUB", "XPUB"), "SUB", title + " with forward-pass metrics"));
        }
        for (String publisher : list(values.optionalText(KV_EVENTS))) {
            looks.add(ZeroMqLook.at(KV_EVENTS, publisher, List.of("PUB", "XPUB"), "SUB", title + " with KV events"));
        }
        for (String replay : list(values.optionalText(KV_REPLAY))) {
            looks.add(ZeroMqLook.at(
                    KV_REPLAY, replay, List.of("ROUTER"), "DEALER", title + " with a replay endpoint of KV events"));
        }
        for (URI page : pages(values.optionalText(METRICS))) {
            looks.add(MetricsLook.at(METRICS, page, engine));
        }
        return looks;
    }

    /** What makes settings of options. */
    interface Making {
        /**
         * Makes them.
         *
         * @throws CollectorException where they cannot be
         * @throws IllegalArgumentException the same
         */
        Object make() throws CollectorException;
    }

    /** Whether settings can be made of options: for {@link Collector#check}. */
    static void check(Making settings) throws CollectorException {
        try {
            settings.make();
        } catch (IllegalArgumentException impossible) {
            throw new CollectorException(String.valueOf(impossible.getMessage()), impossible);
        }
    }

    /** Runs a collector of an engine. */
    static Collector.Running running(Supplier<String> status, Runnable close, String cannotKnow) {
        return new Collector.Running() {
            @Override
            public String status() {
                return status.get();
            }

            @Override
            public String cannotKnow() {
                return cannotKnow;
            }

            @Override
            public void close() {
                close.run();
            }
        };
    }
}
