package io.tokenstair.collect.vllm;

import io.tokenstair.collect.vllm.input.CaptureFolder;
import io.tokenstair.collect.vllm.input.Fields;
import io.tokenstair.collect.vllm.input.LineSource;
import io.tokenstair.collect.vllm.input.RejectedRecordException;
import io.tokenstair.collect.vllm.output.CollectorSpool;
import io.tokenstair.collect.vllm.output.EventSpools;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Imports captures into a folder log: every layer of every capture, one collector each, into one partition in the order of events.
 * The same captures give the same bytes. {@code truth.json}, {@code truth_tokens.jsonl} and {@code token_ids.jsonl} are never opened.
 */
final class CaptureImport {
    static final String COLLECTOR = "vllm-import";

    private static final String META_FILE = "meta.json";
    private static final int MAX_META_BYTES = 8 << 20;

    private final LineSource.Limits limits;
    private final Listener listener;
    private final Map<String, LayerCount> counts = new LinkedHashMap<>();

    /** Hears how an import goes. */
    interface Listener {
        /** A layer has read so many records; called now and then. */
        void progress(String layer, long read);

        /** A layer is not in a capture. */
        void missing(String layer, String files, Path folder);
    }

    /** Reads one layer; false when its files are missing. */
    private interface Layer {
        boolean read(LayerReader reader) throws IOException;
    }

    CaptureImport(LineSource.Limits limits, Listener listener) {
        this.limits = limits;
        this.listener = listener;
    }

    /** Imports the captures into a log that has no partition yet. */
    ImportSummary run(List<Path> folders, Path log) throws CaptureException, IOException {
        for (Path folder : folders) {
            refuseUnreadable(folder);
        }
        if (Files.exists(log) && !Files.isDirectory(log)) {
            throw new CaptureException(log + ": a file, not a folder; name a new folder for --log");
        }
        if (Files.exists(log.resolve("partition-0000"))) {
            throw new CaptureException(
                    log.resolve("partition-0000") + ": this log already holds events; name a new folder for --log");
        }
        try (EventSpools spools = new EventSpools(log)) {
            for (int i = 0; i < folders.size(); i++) {
                String label = folders.size() == 1 ? "" : i + "/";
                read(new CaptureFolder(folders.get(i), label), i, folders.size(), spools);
            }
            spools.write();
        }
        return ImportSummary.of(List.copyOf(counts.values()));
    }

    private static void refuseUnreadable(Path folder) throws CaptureException, IOException {
        if (!Files.exists(folder)) {
            throw new CaptureException(folder + ": no such folder; name the folder of a vLLM capture");
        }
        if (!Files.isDirectory(folder)) {
            throw new CaptureException(folder + ": not a folder; name the folder that holds steps.jsonl and its like");
        }
        CaptureFolder capture = new CaptureFolder(folder, "");
        boolean known = !MetricsLayer.files(capture).isEmpty()
                || !capture.list(SpansLayer.FOLDER, name -> name.endsWith(".pb") || name.endsWith(".json"))
                        .isEmpty();
        for (String file : List.of(
                StepsLayer.FILE,
                ClientLayer.FILE,
                KvEventsLayer.FILE,
                KvEventsLayer.REPLAY_FILE,
                HostLayer.FILE,
                StatLogLayer.FILE)) {
            known |= capture.find(file) != null;
        }
        if (!known) {
            throw new CaptureException(
                    folder + ": no vLLM capture: none of steps.jsonl, client.jsonl, kv_events.jsonl,"
                            + " otlp_spans, metrics_*.prom, host_sched.jsonl, statlog.jsonl is in it; name the folder of one run");
        }
    }

    private void read(CaptureFolder capture, int index, int captures, EventSpools spools) throws IOException {
        CaptureMeta meta = CaptureMeta.UNKNOWN;
        String metaProblem = null;
        try {
            meta = meta(capture);
        } catch (RejectedRecordException e) {
            metaProblem = e.reason();
        }
        CaptureClock clock = CaptureClock.sample(capture, meta);
        CaptureIdentity identity = CaptureIdentity.of(index, captures, clock.recordedSeconds());
        CollectorSpool importEvents = collector(spools, COLLECTOR, identity);
        if (metaProblem != null) {
            LayerReader reader = reader("meta", capture, clock, importEvents);
            reader.rejected(META_FILE, null, metaProblem, null);
            count(reader.result(false));
        }
        StepsLayer steps = new StepsLayer(identity, meta, clock, collector(spools, StepsLayer.COLLECTOR, identity));
        layer(StepsLayer.NAME, StepsLayer.FILE + "[.gz]", capture, clock, importEvents, steps::read);
        ClientLayer client = new ClientLayer(clock, collector(spools, ClientLayer.COLLECTOR, identity));
        layer(ClientLayer.NAME, ClientLayer.FILE + "[.gz]", capture, clock, importEvents, client::read);
        KvEventsLayer kv = new KvEventsLayer(identity, clock, collector(spools, KvEventsLayer.COLLECTOR, identity));
        layer(KvEventsLayer.NAME, KvEventsLayer.FILE + "[.gz]", capture, clock, importEvents, kv::read);
        SpansLayer spans = new SpansLayer(clock, collector(spools, SpansLayer.COLLECTOR, identity));
        layer(SpansLayer.NAME, SpansLayer.FOLDER + "/*.pb", capture, clock, importEvents, spans::read);
        MetricsLayer metrics = new MetricsLayer(meta, collector(spools, MetricsLayer.COLLECTOR, identity));
        layer(MetricsLayer.NAME, "metrics_*.prom[.gz]", capture, clock, importEvents, metrics::read);
        HostLayer host = new HostLayer(identity, clock, collector(spools, HostLayer.COLLECTOR, identity));
        layer(HostLayer.NAME, HostLayer.FILE + "[.gz]", capture, clock, importEvents, host::read);
        StatLogLayer statLog = new StatLogLayer(identity, clock, collector(spools, StatLogLayer.COLLECTOR, identity));
        layer(StatLogLayer.NAME, StatLogLayer.FILE + "[.gz]", capture, clock, importEvents, statLog::read);
    }

    private static CollectorSpool collector(EventSpools spools, String collectorId, CaptureIdentity identity) {
        return spools.collector(collectorId, identity.collectorEpoch(), identity.clockId());
    }

    private static CaptureMeta meta(CaptureFolder capture) throws RejectedRecordException, IOException {
        Path file = capture.find(META_FILE);
        if (file == null) {
            return CaptureMeta.UNKNOWN;
        }
        byte[] bytes = CaptureFolder.readWhole(file, MAX_META_BYTES);
        return CaptureMeta.parse(Fields.parse(bytes, bytes.length));
    }

    private LayerReader reader(String name, CaptureFolder capture, CaptureClock clock, CollectorSpool importEvents) {
        return new LayerReader(name, capture, clock, limits, importEvents, read -> listener.progress(name, read));
    }

    private void layer(
            String name,
            String files,
            CaptureFolder capture,
            CaptureClock clock,
            CollectorSpool importEvents,
            Layer layer)
            throws IOException {
        LayerReader reader = reader(name, capture, clock, importEvents);
        boolean there = layer.read(reader);
        if (!there) {
            listener.missing(name, files, capture.folder());
        }
        count(reader.result(!there));
    }

    private void count(LayerCount count) {
        counts.merge(count.layer(), count, LayerCount::plus);
    }

    /** The one line that tells a user what went wrong with a file. */
    static String problem(IOException e) {
        @Nullable String message = e.getMessage();
        if (e instanceof AccessDeniedException) {
            return message + ": no permission to read or write it; change its owner or mode";
        }
        if (e instanceof NoSuchFileException) {
            return message + ": no such file or folder; check the path and that it can be made";
        }
        return (message == null ? e.getClass().getSimpleName() : message) + "; check the file system and import again";
    }
}
