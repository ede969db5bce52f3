package io.tokenstair.bench.accuracy;

import io.tokenstair.job.step.GraphMode;
import io.tokenstair.job.step.StepLoad;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;

/**
 * The form of the model against kernels that were profiled on real GPUs. Steps are put together from the profiled kernels of all
 * layers; the model learns one half of the rows of a profile and is judged on the other half.
 */
final class KernelProfiles {
    private static final String FOLDER = "kernel_latency_profiles/";
    private static final int ROUNDS = 4;
    private static final double NOISE = 0.01;
    private static final int SEED = 41;
    private static final long MICROS = 1_000;

    private final @Nullable Path folder;

    private KernelProfiles(@Nullable Path folder) {
        this.folder = folder;
    }

    /** Prints what is reached on every profile; from the built-in copies where no folder is given. */
    static void print(PrintStream out, @Nullable Path folder) throws IOException {
        KernelProfiles profiles = new KernelProfiles(folder);
        out.println(
                "| profile | learnt half: steps, MAPE % | other half: steps, MAPE %, p95 % | one line for all batches, other half % |");
        out.println("|---|---|---|---|");
        profiles.model(out, "RTX4090_meta-llama_Llama-3.1-8B_bf16_tp1", 32);
        profiles.model(out, "RTXPRO6000_Qwen_Qwen3-32B_bf16_tp2", 64);
        profiles.vidur(out);
        profiles.allReduce(out);
    }

    private record Row(StepLoad load, double nanos) {}

    private void model(PrintStream out, String name, int layers) throws IOException {
        Map<String, TreeMap<Integer, Double>> dense = new TreeMap<>();
        for (String[] row : rows(name + "_dense.csv")) {
            dense.computeIfAbsent(row[0], layer -> new TreeMap<>())
                    .put(Integer.valueOf(row[1]), Double.valueOf(row[2]));
        }
        Map<String, TreeMap<Integer, Double>> perSequence = new TreeMap<>();
        for (String[] row : rows(name + "_per_sequence.csv")) {
            perSequence
                    .computeIfAbsent(row[0], layer -> new TreeMap<>())
                    .put(Integer.valueOf(row[1]), Double.valueOf(row[2]));
        }
        List<Row> decodes = new ArrayList<>();
        List<Row> mixed = new ArrayList<>();
        List<Row> bySize = new ArrayList<>();
        for (String[] row : rows(name + "_attention.csv")) {
            int chunk = Integer.parseInt(row[0]);
            int context = Integer.parseInt(row[1]);
            int sequences = Integer.parseInt(row[2]);
            int each = Integer.parseInt(row[3]);
            int all = sequences + (chunk > 0 ? 1 : 0);
            double micros = layers * (Double.parseDouble(row[4]) + layer(dense, sequences + chunk))
                    + once(dense, perSequence, sequences + chunk, all);
            long pairs = chunk == 0 ? 0 : StepLoad.pairs(chunk, context + chunk);
            StepLoad load = new StepLoad(all, all, GraphMode.EAGER, (long) sequences * each, chunk, 0, pairs, 0);
            (chunk == 0 ? decodes : mixed).add(new Row(load, micros * MICROS));
        }
        for (int size : profile(dense, "gate_up_proj").keySet()) {
            if (size <= 512) {
                double micros = layers * layer(dense, size) + once(dense, perSequence, size, size);
                bySize.add(new Row(StepLoad.decodeOnly(size, 0), micros * MICROS));
            }
        }
        report(out, name + ", matrix products by batch", bySize, bySize);
        report(out, name + ", whole decode-only steps", decodes, decodes);
        List<Row> both = new ArrayList<>(decodes);
        both.addAll(mixed);
        report(out, name + ", whole steps with a prompt chunk", both, mixed);
    }

    /** Matrix products and what lies between them, of one layer, us. */
    private static double layer(Map<String, TreeMap<Integer, Double>> dense, int tokens) {
        double sum = 0;
        for (String name : List.of("qkv_proj", "rotary_emb", "o_proj", "gate_up_proj", "act_fn", "down_proj")) {
            sum += at(profile(dense, name), tokens);
        }
        return sum + 2 * at(profile(dense, "layernorm"), tokens);
    }

    /** What a step does once, us. */
    private static double once(
            Map<String, TreeMap<Integer, Double>> dense,
            Map<String, TreeMap<Integer, Double>> perSequence,
            int tokens,
            int sequences) {
        double sum = at(profile(dense, "embedding"), tokens) + at(profile(dense, "final_layernorm"), tokens);
        for (TreeMap<Integer, Double> layer : perSequence.values()) {
            sum += at(layer, sequences);
        }
        return sum;
    }

    private static TreeMap<Integer, Double> profile(Map<String, TreeMap<Integer, Double>> dense, String name) {
        return Objects.requireNonNull(dense.get(name), name);
    }

    private static double at(TreeMap<Integer, Double> profile, int size) {
        Map.Entry<Integer, Double> below = profile.floorEntry(size);
        Map.Entry<Integer, Double> above = profile.ceilingEntry(size);
        if (below == null || above == null) {
            return below == null ? profile.firstEntry().getValue() : below.getValue() * size / below.getKey();
        }
        if (above.getKey().equals(below.getKey())) {
            return below.getValue();
        }
        double share = (size - below.getKey()) / (double) (above.getKey() - below.getKey());
        return below.getValue() + share * (above.getValue() - below.getValue());
    }

    private void vidur(PrintStream out) throws IOException {
        List<String[]> rows = table("vidur_h100_llama2-7b_mlp.csv");
        List<String> header = List.of(rows.get(0));
        Map<Integer, List<Row>> byParallelism = new TreeMap<>();
        for (String[] row : rows.subList(1, rows.size())) {
            int tokens = (int) Double.parseDouble(row[header.indexOf("num_tokens")]);
            int parallelism = Integer.parseInt(row[header.indexOf("num_tensor_parallel_workers")]);
            double millis = 0;
            for (int i = 0; i < row.length; i++) {
                if (header.get(i).endsWith(".median") && !header.get(i).contains(".emb.")) {
                    millis += row[i].isEmpty() ? 0 : Double.parseDouble(row[i]);
                }
            }
            if (tokens <= 512) {
                byParallelism
                        .computeIfAbsent(parallelism, p -> new ArrayList<>())
                        .add(new Row(StepLoad.decodeOnly(tokens, 0), 32 * millis * 1e6));
            }
        }
        byParallelism.forEach((parallelism, steps) ->
                report(out, "vidur H100 Llama 2 7B, products of " + parallelism + " GPUs by batch", steps, steps));
    }

    /** A collective as the model sees it: fixed, and so much per byte. */
    private void allReduce(PrintStream out) throws IOException {
        List<String[]> rows = table("vidur_a100_pairwise_nvlink_all_reduce.csv");
        List<String> header = List.of(rows.get(0));
        Map<Integer, List<Row>> byWorkers = new TreeMap<>();
        for (String[] row : rows.subList(1, rows.size())) {
            long bytes = Long.parseLong(row[header.indexOf("size")]);
            int workers = Integer.parseInt(row[header.indexOf("num_workers")]);
            double millis = Double.parseDouble(row[header.indexOf("time_stats.all_reduce.median")]);
            byWorkers
                    .computeIfAbsent(workers, w -> new ArrayList<>())
                    .add(new Row(StepLoad.decodeOnly(1, bytes / 1_024), millis * 1e6));
        }
        byWorkers.forEach(
                (workers, steps) -> report(out, "vidur A100 all-reduce of " + workers + " by size", steps, steps));
    }

    private static void report(PrintStream out, String name, List<Row> rows, List<Row> judged) {
        IndexedRandom halves = new IndexedRandom(SEED, 1);
        IndexedRandom order = new IndexedRandom(SEED, 2);
        IndexedRandom noise = new IndexedRandom(SEED, 3);
        List<Row> learnt = new ArrayList<>();
        List<Row> others = new ArrayList<>();
        for (int i = 0; i < rows.size(); i++) {
            (halves.uniform(i) < 0.5 ? learnt : others).add(rows.get(i));
        }
        ModelRun run = new ModelRun();
        int draws = Math.max(2_000, ROUNDS * learnt.size());
        for (int i = 0; i < draws; i++) {
            Row row = learnt.get((int) (order.uniform(i) * learnt.size()));
            run.learn(row.load(), StrictMath.round(row.nanos() * (1 + NOISE * noise.normal(i))));
        }
        ErrorSum own = errors(run, learnt, judged);
        ErrorSum other = errors(run, others, judged);
        out.printf(
                Locale.ROOT,
                "| %s | %d, %.1f | %d, %.1f, %.1f | %.1f |%n",
                name,
                own.count(),
                own.meanPercent(),
                other.count(),
                other.meanPercent(),
                other.quantilePercent(0.95),
                line(learnt, others, judged).meanPercent());
    }

    private static ErrorSum errors(ModelRun run, List<Row> rows, List<Row> judged) {
        ErrorSum errors = new ErrorSum();
        for (Row row : rows) {
            if (run.knows(row.load()) && judged.contains(row)) {
                errors.add(run.expect(row.load()).expectedNanos(), row.nanos());
            }
        }
        return errors;
    }

    /** The same terms without the table, fitted offline. */
    private static ErrorSum line(List<Row> learnt, List<Row> others, List<Row> judged) {
        List<Row> all = new ArrayList<>(learnt);
        all.addAll(others);
        double[][] regressors = new double[all.size()][];
        double[] nanos = new double[all.size()];
        for (int i = 0; i < nanos.length; i++) {
            StepLoad load = all.get(i).load();
            nanos[i] = all.get(i).nanos();
            regressors[i] =
                    new double[] {1, load.sequences(), load.residentTokens(), load.promptTokens(), load.promptPairs()};
        }
        double[] fitted = RobustFit.fitted(regressors, nanos);
        ErrorSum errors = new ErrorSum();
        for (int i = learnt.size(); i < nanos.length; i++) {
            if (judged.contains(all.get(i))) {
                errors.add(fitted[i], nanos[i]);
            }
        }
        return errors;
    }

    private List<String[]> rows(String name) throws IOException {
        List<String[]> rows = table(name);
        return rows.subList(1, rows.size());
    }

    private List<String[]> table(String name) throws IOException {
        List<String[]> rows = new ArrayList<>();
        try (InputStream in = open(name);
                BufferedReader reader = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                rows.add(line.split(",", -1));
            }
        }
        return rows;
    }

    private InputStream open(String name) throws IOException {
        if (folder != null && Files.exists(folder.resolve(name))) {
            return Files.newInputStream(folder.resolve(name));
        }
        InputStream packed = folder != null
                ? Files.newInputStream(folder.resolve(name + ".gz"))
                : KernelProfiles.class.getResourceAsStream(FOLDER + name + ".gz");
        if (packed == null) {
            throw new IOException("Cannot find " + name);
        }
        return new GZIPInputStream(packed);
    }
}
