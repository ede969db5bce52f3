package io.tokenstair.bench.accuracy;

import io.tokenstair.archive.result.StepAnalysis;
import io.tokenstair.collect.ImportMain;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.event.wire.WireException;
import io.tokenstair.job.EventRoutes;
import io.tokenstair.job.step.EngineOutput;
import io.tokenstair.job.step.EngineState;
import io.tokenstair.job.step.EngineTimeline;
import io.tokenstair.job.step.SequenceFact;
import io.tokenstair.job.step.TokenBatch;
import io.tokenstair.log.FolderLogReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** The judged steps of a recorded run: imported by the product's own import, judged by its own timeline. */
final class CaptureSteps implements EngineOutput {
    private final List<StepAnalysis> steps = new ArrayList<>();

    private CaptureSteps() {}

    /** Names of the recorded runs below a folder, sorted. */
    static List<String> names(Path captures) throws IOException {
        try (Stream<Path> entries = Files.list(captures)) {
            return entries.filter(Files::isDirectory)
                    .map(entry -> entry.getFileName().toString())
                    .sorted()
                    .toList();
        }
    }

    /** Every step of a run as the model judged it before it learnt it, in the order of the run. */
    static List<StepAnalysis> of(Path capture) throws IOException, WireException {
        Path log = Files.createTempDirectory("tokenstair-accuracy");
        try {
            StringWriter said = new StringWriter();
            int code = ImportMain.run(
                    new PrintWriter(said, true),
                    new PrintWriter(said, true),
                    false,
                    "vllm-capture",
                    capture.toString(),
                    "--log",
                    log.resolve("log").toString());
            if (code != 0) {
                throw new IOException("Cannot import " + capture + ": " + said);
            }
            return judge(log.resolve("log"));
        } finally {
            try (Stream<Path> files = Files.walk(log)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
        }
    }

    private static List<StepAnalysis> judge(Path log) throws IOException, WireException {
        CaptureSteps output = new CaptureSteps();
        Map<String, EngineTimeline> engines = new TreeMap<>();
        try (FolderLogReader reader = new FolderLogReader(log.resolve("partition-0000"), 0)) {
            for (byte[] bytes = reader.next(); bytes != null; bytes = reader.next()) {
                LoggedEvent logged = EventCodec.decode(bytes);
                String engineId = EventRoutes.engineOf(logged.event());
                if (engineId == null) {
                    continue;
                }
                EngineTimeline engine = engines.get(engineId);
                if (engine == null) {
                    EngineState state = new EngineState();
                    state.engineId = engineId;
                    engine = new EngineTimeline(state, output);
                    engines.put(engineId, engine);
                }
                engine.accept(logged, bytes);
            }
        }
        engines.values().forEach(EngineTimeline::finish);
        return output.steps;
    }

    @Override
    public void tokens(TokenBatch batch) {}

    @Override
    public void fact(SequenceFact fact) {}

    @Override
    public void step(StepAnalysis step) {
        steps.add(step);
    }

    @Override
    public void finding(io.tokenstair.archive.result.Finding finding) {}
}
