package io.tokenstair.collector;

import java.util.List;

/** The collectors that {@code tokenstair collect} knows. */
final class Collectors {
    private Collectors() {}

    /** All of them, in the order they are shown. */
    static List<Collector> all() {
        return List.of(
                new GatewayCollector(),
                new VllmLiveCollector(),
                new SglangLiveCollector(),
                new DynamoLiveCollector(),
                new TrtllmLiveCollector(),
                new LlamaCppLiveCollector(),
                new OtlpCollector());
    }
}
