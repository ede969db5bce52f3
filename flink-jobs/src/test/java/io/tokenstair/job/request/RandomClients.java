package io.tokenstair.job.request;

import io.tokenstair.job.step.SequenceFact.Kind;
import io.tokenstair.job.step.Told;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;

/** Clients of the requests of a random engine: some saw nothing, some left, some got their tokens in lumps. */
public final class RandomClients {
    private static final long MILLIS = 1_000_000;

    private RandomClients() {}

    /** A script for each request that an engine's timeline told of; the same seed gives the same scripts. */
    public static List<RequestScript> scripts(Told told, long seed) {
        Random random = new Random(seed);
        TreeMap<String, Long> queued = new TreeMap<>();
        told.facts(Kind.QUEUED).forEach(fact -> queued.put(fact.name.requestId, fact.clockNanos));
        List<RequestScript> scripts = new ArrayList<>();
        queued.forEach((requestId, nanos) -> scripts.add(script(told, requestId, nanos, random)));
        return scripts;
    }

    private static RequestScript script(Told told, String requestId, long queuedNanos, Random random) {
        RequestScript script = new RequestScript(requestId).engine(told);
        if (random.nextInt(8) == 0) {
            return script;
        }
        script.sent(queuedNanos - random.nextInt(5) * MILLIS);
        List<Told.Token> tokens = told.tokens(requestId);
        long last = queuedNanos;
        int lump = random.nextInt(4) == 0 ? 1 + random.nextInt(20) : 1;
        int leaves = random.nextInt(6) == 0 ? random.nextInt(tokens.size() + 1) : tokens.size();
        for (int from = 0; from < leaves; from += lump) {
            int count = Math.min(lump, leaves - from);
            last = Math.max(last, tokens.get(from + count - 1).endNanos() + random.nextInt(2_000_000));
            script.chunk(last, 0, tokens.get(from).index(), count);
        }
        if (random.nextInt(10) > 0) {
            script.ended(last + random.nextInt(50) * MILLIS, leaves < tokens.size() ? "client-closed" : "complete");
        }
        return script;
    }
}
