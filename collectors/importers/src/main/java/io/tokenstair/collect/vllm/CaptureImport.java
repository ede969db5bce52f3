package io.tokenstair.collect.vllm;

import io.tokenstair.collect.importer.ImportException;
import io.tokenstair.collect.importer.ImportListener;
import io.tokenstair.collect.importer.ImportSummary;
import io.tokenstair.collect.importer.Importer;
import io.tokenstair.collect.importer.LayerCount;
import io.tokenstair.collect.input.CaptureFolder;
import io.tokenstair.collect.input.Fields;
import io.tokenstair.collect.input.LineSource;
import io.tokenstair.collect.input.RejectedRecordException;
import io.tokenstair.collect.output.CollectorSpool;
import io.tokenstair.collect.output.EventSpools;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Imports captures into a folder log: every layer of every capture, one collector each, into one partition in the order of events.
 * The same captures give the same bytes. {@code truth.json}, {@code truth_tokens.jsonl} and {@code token_ids.jsonl} are never opened.
 */
public final class CaptureImport implements Importer {
    static final String COLLECTOR = "vllm-import";

    private static final String META_FILE = "meta.json";
    private static final int MAX_META_BYTES = 8 << 20;

    private final LineSource.Limits limits;
    private final ImportListener listener;
    private final Map<String, LayerCount> counts = new LinkedHashMap<>();
    /** Epochs of the captures so far: two of one second are two starts. */
    private final Set<Long> epochs = new HashSet<>();

    /** Reads one layer; false when its files are missing. */
    private interface Layer {
        boolean read(LayerReader reader) throws IOException;
    }

    /** An import within these limits. */
    public CaptureImport(LineSource.Limits limits, ImportListener listener) {
        this.limits = limits;
        this.listener = listener;
    }

    @Override
    public ImportSummary run(List<Path> folders, Path log) throws ImportException, IOException {
        for (Path folder : folders) {
            refuseUnreadable(folder);
        }
        Importer.refuseUsedLog(log);
        try (EventSpools spools = new EventSpools(log)) {
            for (int i = 0; i < folders.size(); i++) {
                String label = folders.size() == 1 ? "" : i + "/";
                read(new CaptureFolder(folders.get(i), label), i, folders.size(), spools);
            }
            spools.write();
        }
        return ImportSummary.of(List.copyOf(counts.values()));
    }

    private static void refuseUnreadable(Path folder) throws ImportException, IOException {
        if (!Files.exists(folder)) {
            throw new ImportException(folder + ": no such folder; name the folder of a vLLM capture");
        }
        if (!Files.isDirectory(folder)) {
            throw new ImportException(folder + ": not a folder; name the folder that holds steps.jsonl and its like");
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
            throw new ImportException(
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
        long recordedSeconds = clock.recordedSeconds();
        while (!epochs.add(recordedSeconds + index)) {
            recordedSeconds++;
        }
        CaptureIdentity identity = CaptureIdentity.of(index, captures, recordedSeconds);
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

    private static CollectorSpool collector(EventSpools spools, String collectorId, CaptureIdentity identity)
            throws IOException {
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
}
