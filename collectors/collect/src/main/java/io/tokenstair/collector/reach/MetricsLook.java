package io.tokenstair.collector.reach;

import io.tokenstair.foreign.ForeignFormatException;
import io.tokenstair.foreign.PrometheusLine;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Scrapes a metrics address once: whose names it holds, and which of those that tell most it lacks. */
public final class MetricsLook {
    private static final int MOST_LACKING_TOLD = 4;

    private MetricsLook() {}

    /**
     * A look.
     *
     * @param subject the option it is about
     * @param address what is scraped
     * @param wanted the engine it should be; absent where any will do
     */
    public static Look at(String subject, URI address, @Nullable Engine wanted) {
        return new Look(subject, address.toString(), () -> look(address, wanted));
    }

    private static Seen look(URI address, @Nullable Engine wanted)
            throws IOException, InterruptedException, GeneralSecurityException {
        Seen absence = TcpPeer.absence(
                UpstreamLook.host(address), UpstreamLook.port(address), wanted == null ? "the engine" : wanted.title());
        if (absence != null) {
            return absence;
        }
        HttpPeer.Answer answer;
        try {
            answer = new HttpPeer(null).one(address);
        } catch (IOException broken) {
            return Seen.failed(
                    "takes connections, and answers no GET: "
                            + broken.getClass().getSimpleName(),
                    "check the port");
        }
        if (answer.status() != 200) {
            return Seen.failed(
                    "HTTP " + answer.status(),
                    "check the path, and that the engine was told to serve metrics (SGLang --enable-metrics, llama.cpp --metrics)");
        }
        return judged(new String(answer.body(), StandardCharsets.UTF_8), wanted);
    }

    /** What a scrape says. */
    static Seen judged(String text, @Nullable Engine wanted) {
        if (text.stripLeading().startsWith("[")) {
            return Seen.failed(
                    "a JSON list, such as TensorRT-LLM's iteration statistics, and no Prometheus text",
                    "TensorRT-LLM serves Prometheus at /prometheus/metrics");
        }
        Set<String> names = names(text);
        Engine engine = engineOf(names);
        if (names.isEmpty()) {
            return Seen.failed("no metrics in what it answers", "check the path");
        }
        if (engine == null) {
            return Seen.warning(
                    names.size() + " names, of no engine that is known", "check that this is an engine's address");
        }
        List<String> lacking = lacking(names, engine);
        String found = engine.title() + "'s names, " + names.size() + " in all";
        if (wanted != null && engine != wanted) {
            return Seen.warning(found, "this collector is for " + wanted.title() + ": check the address");
        }
        if (lacking.isEmpty()) {
            return Seen.ok(found);
        }
        String told = String.join(", ", lacking.subList(0, Math.min(MOST_LACKING_TOLD, lacking.size())))
                + (lacking.size() > MOST_LACKING_TOLD ? " and " + (lacking.size() - MOST_LACKING_TOLD) + " more" : "");
        return Seen.warning(
                found + "; lacks " + told,
                "some appear with the first request; others an older version or other flags leave out");
    }

    static Set<String> names(String text) {
        Set<String> names = new LinkedHashSet<>();
        for (String line : (Iterable<String>) text.lines()::iterator) {
            if (!line.isBlank() && !line.startsWith("#")) {
                try {
                    names.add(PrometheusLine.parse(line.trim()).name());
                } catch (ForeignFormatException unreadable) {
                    continue;
                }
            }
        }
        return names;
    }

    /** The engine most of the names are of; null where they are of none. */
    static @Nullable Engine engineOf(Set<String> names) {
        Engine best = null;
        long most = 0;
        for (Engine engine : Engine.values()) {
            if (!engine.metricsPrefix().isEmpty()) {
                long count = names.stream()
                        .filter(name -> name.startsWith(engine.metricsPrefix()))
                        .count();
                if (count > most) {
                    most = count;
                    best = engine;
                }
            }
        }
        return best;
    }

    /** What an engine's names should have had. */
    static List<String> lacking(Set<String> names, Engine engine) {
        List<String> lacking = new ArrayList<>();
        for (String wanted : engine.wantedMetrics()) {
            List<String> either = List.of(wanted.split("\\|", -1));
            if (either.stream().noneMatch(names::contains)) {
                lacking.add(either.get(0));
            }
        }
        return lacking;
    }
}
