package io.tokenstair.collect;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.tokenstair.collect.aiperf.AiperfImport;
import io.tokenstair.collect.bench.BenchImport;
import io.tokenstair.collect.device.TraceNames;
import io.tokenstair.collect.dynamo.DynamoTraceImport;
import io.tokenstair.collect.dynamo.ForwardPassImport;
import io.tokenstair.collect.events.EventsImport;
import io.tokenstair.collect.events.LogImport;
import io.tokenstair.collect.guidellm.GuideLlmImport;
import io.tokenstair.collect.importer.ImportException;
import io.tokenstair.collect.importer.ImportListener;
import io.tokenstair.collect.importer.ImportSummary;
import io.tokenstair.collect.importer.Importer;
import io.tokenstair.collect.importer.LayerCount;
import io.tokenstair.collect.input.LineSource;
import io.tokenstair.collect.kineto.KinetoImport;
import io.tokenstair.collect.kv.KvEventsImport;
import io.tokenstair.collect.llamacpp.LlamaCppLogImport;
import io.tokenstair.collect.nsys.NsysImport;
import io.tokenstair.collect.prometheus.PrometheusImport;
import io.tokenstair.collect.stream.SseCaptureImport;
import io.tokenstair.collect.table.CsvImport;
import io.tokenstair.collect.table.CsvMap;
import io.tokenstair.collect.telemetry.OtlpImport;
import io.tokenstair.collect.trtllm.IterationsImport;
import io.tokenstair.collect.trtllm.TritonTraceImport;
import io.tokenstair.collect.vllm.CaptureImport;
import io.tokenstair.collect.workload.MooncakeImport;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.UsageMessageSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * Imports files into a folder log. Exit codes: 0 done, rejects included; 2 wrong usage or unreadable input; 3 done, but something
 * was rejected and {@code --strict} was given.
 */
@Command(
        name = "tokenstair import",
        description = "Writes files you already have into the raw tables of an archive.",
        customSynopsis = {
            "tokenstair import FORMAT PATH... --archive DIR [--strict]",
            "       tokenstair import FORMAT --help"
        },
        subcommands = {
            ImportMain.VllmCapture.class,
            ImportMain.Events.class,
            ImportMain.Otlp.class,
            ImportMain.Prometheus.class,
            ImportMain.StepsCsv.class,
            ImportMain.Kineto.class,
            ImportMain.VllmBench.class,
            ImportMain.SglangBench.class,
            ImportMain.Mooncake.class,
            ImportMain.NsysSqlite.class,
            ImportMain.SseCapture.class,
            ImportMain.KvEvents.class,
            ImportMain.DynamoTrace.class,
            ImportMain.DynamoFpm.class,
            ImportMain.LlamaCppLog.class,
            ImportMain.Aiperf.class,
            ImportMain.GuideLlm.class,
            ImportMain.TrtLlmIterations.class,
            ImportMain.TritonTrace.class,
            ImportMain.Tokenstair.class
        },
        commandListHeading = "",
        footer = {
            "",
            "Last line: read R, accepted A, rejected J; the table rejected says why. Exit",
            "codes: 0 done; 2 wrong usage or unreadable; 3 done, with rejects and --strict.",
            "",
            "Example:",
            "  tokenstair import vllm-capture captures/quiet --archive A"
        })
public final class ImportMain {
    /** Done. */
    static final int DONE = 0;
    /** Wrong usage or unreadable input. */
    static final int UNREADABLE = 2;
    /** Done, but input was rejected and --strict was given. */
    static final int REJECTED = 3;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this help.")
    @SuppressWarnings("UnusedVariable") // picocli reads it.
    private boolean help;

    @Option(names = FORMATS, description = "Say of each format what it tells and what not.")
    @SuppressWarnings("UnusedVariable") // It is looked for before picocli asks for a format.
    private boolean formats;

    /** The formats by what wrote the files; each stands in one line. */
    private static final List<String> GROUPS = List.of(
            "Formats, by what wrote the files (--formats: what each tells):",
            "  vLLM                vllm-capture, vllm-bench",
            "  SGLang              sglang-bench",
            "  Dynamo              dynamo-trace, dynamo-fpm, mooncake",
            "  TensorRT, Triton    trtllm-iterations, triton-trace",
            "  llama.cpp           llamacpp-log",
            "  any engine          otlp, prometheus, kv-events, sse-capture, steps-csv",
            "  load generators     aiperf, guidellm",
            "  GPU profilers       kineto, nsys-sqlite",
            "  Tokenstair          events, tokenstair");

    private static final String FORMATS = "--formats";

    private ImportMain() {}

    /** Runs the command and exits with its code. */
    public static void main(String[] args) {
        PrintWriter out = new PrintWriter(System.out, true, Charset.defaultCharset());
        PrintWriter err = new PrintWriter(System.err, true, Charset.defaultCharset());
        System.exit(run(out, err, System.console() != null || Boolean.getBoolean("tokenstair.terminal"), args));
    }

    /** Runs the command and returns its exit code. */
    public static int run(PrintWriter out, PrintWriter err, boolean terminal, String... args) {
        CommandLine commandLine = new CommandLine(new ImportMain())
                .setOut(out)
                .setErr(err)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setParameterExceptionHandler((problem, given) -> {
                    CommandLine command = problem.getCommandLine();
                    command.getErr()
                            .println(problem.getMessage() + "; see "
                                    + command.getCommandSpec().qualifiedName() + " --help");
                    return UNREADABLE;
                });
        commandLine.getSubcommands().values().forEach(sub -> {
            if (sub.getCommand() instanceof Format format) {
                format.terminal = terminal;
            }
        });
        if (args.length == 1 && args[0].equals(FORMATS)) {
            commandLine
                    .getSubcommands()
                    .forEach((name, sub) -> out.println(String.format(
                            Locale.ROOT,
                            "%-18s %s",
                            name,
                            String.join(" ", sub.getCommandSpec().usageMessage().header()))));
            out.flush();
            return DONE;
        }
        commandLine
                .getHelpSectionMap()
                .put(
                        UsageMessageSpec.SECTION_KEY_COMMAND_LIST,
                        unused -> "%n%s%n".formatted(String.join(System.lineSeparator(), GROUPS)));
        if (args.length == 0) {
            commandLine.usage(out);
            return UNREADABLE;
        }
        return commandLine.execute(args);
    }

    /** What all formats have in common. */
    abstract static class Format implements Callable<Integer> {
        @Spec
        private CommandSpec spec;

        @Parameters(arity = "1..*", paramLabel = "PATH", description = "What to import.")
        private List<Path> inputs;

        @Option(names = "--archive", paramLabel = "DIR", description = "Archive to add to.")
        @SuppressWarnings("UnusedVariable") // The launcher takes it: it archives what this command logged.
        private @Nullable Path archive;

        @Option(
                names = {"--log", "--to"},
                required = true,
                hidden = true,
                paramLabel = "LOGDIR",
                description = "Folder for the events; new.")
        private Path log;

        @Option(names = "--strict", description = "Exit with 3 when something was rejected.")
        private boolean strict;

        @Option(names = "--summary", hidden = true, description = "End with the line: read R, accepted A, rejected J.")
        private boolean summary;

        @Option(names = "--debug", description = "Show stack traces.")
        private boolean debug;

        @Option(
                names = {"-h", "--help"},
                usageHelp = true,
                description = "Show this help.")
        @SuppressWarnings("UnusedVariable") // picocli reads it.
        private boolean help;

        private boolean terminal;

        @SuppressWarnings("NullAway.Init") // picocli sets the fields.
        Format() {}

        /** The reader of the format. */
        abstract Importer importer(ImportListener listener) throws ImportException;

        @Override
        public Integer call() {
            PrintWriter out = spec.commandLine().getOut();
            PrintWriter err = spec.commandLine().getErr();
            try {
                ImportSummary result = importer(new Report(out, err, terminal)).run(inputs, log);
                Files.createDirectories(log);
                Files.writeString(
                        log.resolve("import-summary.json"), new ObjectMapper().writeValueAsString(result) + "\n");
                printTable(out, result);
                if (summary) {
                    out.println(result.line());
                }
                return strict && result.rejected() > 0 ? REJECTED : DONE;
            } catch (ImportException e) {
                return failed(err, String.valueOf(e.getMessage()), e);
            } catch (IOException e) {
                return failed(err, Importer.problem(e), e);
            } catch (RuntimeException e) {
                return failed(err, "Cannot import: " + e + "; report this with the output of --debug", e);
            }
        }

        private int failed(PrintWriter err, String message, Exception cause) {
            err.println(message);
            if (debug) {
                cause.printStackTrace(err);
            }
            return UNREADABLE;
        }

        private static void printTable(PrintWriter out, ImportSummary result) {
            out.println(String.format(Locale.ROOT, "%-16s %10s %10s %10s", "layer", "read", "accepted", "rejected"));
            for (LayerCount layer : result.layers()) {
                if (!layer.missing()) {
                    out.println(String.format(
                            Locale.ROOT,
                            "%-16s %10d %10d %10d",
                            layer.layer(),
                            layer.read(),
                            layer.accepted(),
                            layer.rejected()));
                }
            }
        }
    }

    /** The format {@code vllm-capture}. */
    @Command(
            name = "vllm-capture",
            header = "A recorded vLLM run: steps, streams, KV blocks; no GPU kernels.",
            customSynopsis = "tokenstair import vllm-capture DIR... --archive DIR [--strict] [--debug]",
            description = {
                "Folders with the recording of a vLLM run. Any file of a recording may be",
                "missing; each may be plain or gzipped (.gz).",
                "",
                "  steps.jsonl       engine steps: which step made each token, queueing,",
                "                    preemptions, recomputation, KV blocks in use",
                "  client.jsonl      requests and chunks as a client saw them",
                "  kv_events.jsonl   KV blocks stored and evicted",
                "  kv_replay.jsonl   KV messages that kv_events.jsonl missed",
                "  otlp_spans/       request spans, second names of requests",
                "  metrics_*.prom    scrapes of /metrics",
                "  host_sched.jsonl  engine threads: time on a core, time waiting for one",
                "  statlog.jsonl     prefix cache look-ups, resumed requests apart",
                "  meta.json         versions, flags, begin and end of the load",
                "",
                "Without steps.jsonl the gaps between tokens are known, their causes are",
                "not. Without client.jsonl delivery is not known. KV events and metrics",
                "name no request. Nothing here tells GPU kernels or the network. Prompts,",
                "generated text and token ids are not taken over.",
                ""
            },
            footer = {"", "Example:", "  tokenstair import vllm-capture captures/quiet --archive A"})
    static final class VllmCapture extends Format {
        @Override
        Importer importer(ImportListener listener) {
            return new CaptureImport(LineSource.Limits.DEFAULT, listener);
        }
    }

    /** The format {@code events}. */
    @Command(
            name = "events",
            header = "Events of the catalogue as JSON lines: what they say, no more.",
            customSynopsis = "tokenstair import events FILE... --archive DIR [--strict] [--debug]",
            description = {
                "JSON lines, an event a line: the names of the event catalogue, written by hand",
                "or by a program. Plain or gzipped (.gz).",
                "",
                "  {\"defaults\": {\"engineId\": \"e\", \"epochMillisAtClockZero\": 1790000000000}}",
                "  {\"kind\": \"RequestQueued\", \"engineRequestId\": \"a\", \"clockNanos\": \"5ms\"}",
                "  {\"kind\": \"StepCompleted\", \"stepId\": 0, \"updateEndNanos\": \"25ms\",",
                "   \"rows\": [{\"engineRequestId\": \"a\", \"contextTokens\": 33}]}",
                "",
                "What the events say can be told, nothing else: docs/import-events.md. A line",
                "that is no event is refused with its number and reason.",
                ""
            },
            footer = {"", "Example:", "  tokenstair import events case.jsonl --archive A"})
    static final class Events extends Format {
        @Override
        Importer importer(ImportListener listener) {
            return new EventsImport(LineSource.Limits.DEFAULT, listener);
        }
    }

    /** The format {@code prometheus}. */
    @Command(
            name = "prometheus",
            header = "Scrapes of /metrics: an engine as a whole; no requests, no tokens.",
            customSynopsis = "tokenstair import prometheus FILE... --archive DIR [--strict] [--debug]",
            description = {
                "Scrapes of /metrics in the Prometheus text format, plain or gzipped (.gz).",
                "",
                "A line  # scraped mono_ns=N wall_ns=N  dates the samples after it; without one",
                "each by its own stamp, else undated and in the order of the files.",
                "",
                "Counters tell of an engine as a whole, never of a request or a token: what is",
                "concluded from them is consistent-with at most. Histograms are kept as they are.",
                ""
            },
            footer = {"", "Example:", "  tokenstair import prometheus scrape-1.prom scrape-2.prom --archive A"})
    static final class Prometheus extends Format {
        @Override
        Importer importer(ImportListener listener) {
            return new PrometheusImport(LineSource.Limits.DEFAULT, listener);
        }
    }

    /** The format {@code otlp}. */
    @Command(
            name = "otlp",
            header = "OpenTelemetry requests: spans, metrics; tokens where SGLang traced them.",
            customSynopsis = "tokenstair import otlp FILE... --archive DIR [--spans-only] [--strict] [--debug]",
            description = {
                "OTLP export requests of traces, metrics and logs, plain or gzipped: JSON lines or",
                "protobuf as the file exporter of the OpenTelemetry Collector writes them, single",
                "requests in either form, streams with the length before each.",
                "",
                "Can tell: requests by the span that vLLM, TensorRT-LLM or SGLang writes of each:",
                "  arrival, first token, end, waits, counts; second names of requests; steps and",
                "  tokens where SGLang traced at level 3; an engine as a whole by its metrics.",
                "Cannot tell: tokens between the first and the last of other engines; KV blocks,",
                "  kernels. A span without a request is kept where it is of an engine, else counted.",
                "",
                "Texts are never taken over. The last line counts spans, data points and log",
                "records.",
                ""
            },
            footer = {"", "Example:", "  tokenstair import otlp traces.jsonl metrics.jsonl.gz --archive A"})
    static final class Otlp extends Format {
        @Option(names = "--spans-only", description = "Spans stand for no requests: other records in the archive do.")
        private boolean spansOnly;

        @Override
        Importer importer(ImportListener listener) {
            return new OtlpImport(!spansOnly, LineSource.Limits.DEFAULT, listener);
        }
    }

    /** The format {@code steps-csv}. */
    @Command(
            name = "steps-csv",
            header = "Engine steps or readings as CSV: an engine as a whole; no tokens.",
            customSynopsis =
                    "tokenstair import steps-csv FILE... --map FIELD=COLUMN[:UNIT],... --archive DIR [--where COLUMN=VALUE] [--engine NAME] [--max-sequences N]",
            description = {
                "A CSV file with a header line: a row an engine step, or a row a reading of an",
                "engine as a whole. --map says which columns to take, and their units. Fields are",
                "parted by commas, or by semicolons or tabs, then with decimal commas too.",
                "",
                "  steps      stepNanos or endNanos, startNanos, stepId, batch, paddedBatch, resident,",
                "             prefill, recompute, running, waiting, kvUsedBlocks, kvTotalBlocks, graphMode",
                "  readings   time and any of running, waiting, kvUsed, promptRate, generationRate,",
                "             paused, preempted, cacheHitRate",
                "",
                "  units      ns us ms s (times), fraction percent (kvUsed, cacheHitRate); counts have none",
                "",
                "What no column says is absent. A column that holds the same 0 in every row of",
                "kvUsed is taken as it is; the analysis says of it that there is no data.",
                "Rows name no request, so nothing is said of tokens.",
                ""
            },
            footer = {
                "",
                "Example:",
                "  tokenstair import steps-csv timeseries.csv \\",
                "    --map time=t:s,running=running,waiting=waiting,kvUsed=kv_cache_pct:percent --archive A"
            })
    static final class StepsCsv extends Format {
        @Option(
                names = "--map",
                required = true,
                split = ",",
                paramLabel = "FIELD=COLUMN[:UNIT]",
                description = "What to take from which column.")
        private List<String> map = List.of();

        @Option(names = "--where", paramLabel = "COLUMN=VALUE", description = "Take only rows with this value.")
        private @Nullable String where;

        @Option(
                names = "--engine",
                paramLabel = "NAME",
                description = "What to call the engine: csv.",
                defaultValue = "csv")
        private String engine = "csv";

        @Option(
                names = "--max-sequences",
                paramLabel = "N",
                description = "Most sequences the engine runs at once (vLLM: --max-num-seqs), where it is known.")
        private @Nullable Integer maxSequences;

        @Override
        Importer importer(ImportListener listener) throws ImportException {
            if (maxSequences != null && maxSequences < 1) {
                throw new ImportException("--max-sequences " + maxSequences + ": must be at least 1");
            }
            return new CsvImport(CsvMap.parse(map, where, engine), maxSequences, LineSource.Limits.DEFAULT, listener);
        }
    }

    /** What the formats of GPU profilers have in common. */
    abstract static class ProfilerFormat extends Format {
        @Option(
                names = "--engine",
                paramLabel = "NAME",
                description = "The engine it was recorded of, where its own records are imported too.")
        @Nullable
        String engine;

        @Option(
                names = "--clock",
                paramLabel = "ID",
                description = "The clock of the stamps, where other records name it: joins the two.")
        @Nullable
        String clock;
    }

    /** The format {@code kineto}. */
    @Command(
            name = "kineto",
            header = "Kernels, waits and steps of a PyTorch profiler's trace; no tokens.",
            customSynopsis = "tokenstair import kineto FILE... --archive DIR [--engine NAME] [--clock ID]",
            description = {
                "Traces of the PyTorch profiler (export_chrome_trace), plain or gzipped, of any",
                "size: CUDA, HIP and MTIA devices, or a CPU alone.",
                "",
                "Can tell: kernels and copies, each with the call that launched it and its wait",
                "  in the queue; calls that waited for the device; allocations; collectives;",
                "  steps, where ranges are named execute_context_..., [Executor] _forward_step",
                "  or ProfilerStep#.",
                "Cannot tell: requests and tokens; which rank a collective waited for; sizes of",
                "  allocations; anything of a GPU where no kernel was recorded. A kernel whose",
                "  launch was not recorded has no launch time: it is never 0.",
                "",
                "Stamps are the wall clock's. Operators and their names are not taken over.",
                ""
            },
            footer = {
                "",
                "Examples:",
                "  tokenstair import kineto rank-0.pt.trace.json.gz --archive A",
                "  tokenstair import kineto trace.json --archive A \\",
                "    --engine vllm-0 --clock wall@capture"
            })
    static final class Kineto extends ProfilerFormat {
        @Override
        Importer importer(ImportListener listener) throws ImportException {
            return new KinetoImport(
                    TraceNames.given("--engine", engine),
                    TraceNames.given("--clock", clock),
                    LineSource.Limits.DEFAULT,
                    listener);
        }
    }

    /** The format {@code vllm-bench}. */
    @Command(
            name = "vllm-bench",
            header = "vllm bench serve results: a client's token gaps; nothing of the engine.",
            customSynopsis = "tokenstair import vllm-bench FILE... --archive DIR [--strict] [--debug]",
            description = {
                "Results of vllm bench serve, and requests with an engine's stamps.",
                "",
                "JSON that --save-result wrote, or JSON lines of it, plain or gzipped (.gz).",
                "",
                "  with --save-detailed   when every chunk of every answer came, by request",
                "  without                aggregates of the run: no request, no token; across",
                "                         runs, how TPOT goes with the input length",
                "  request records        JSON lines with queued_ts, scheduled_ts, first_token_ts",
                "                         and last_token_ts of the engine: waits, no tokens between",
                "",
                "A chunk is a token only where there are as many of one as of the other; the",
                "first chunk of a chat answer is its role. Requests that failed have no",
                "latencies. Nothing here tells what the engine did: gaps, no causes. Requests are",
                "undated. Texts are not taken over.",
                ""
            },
            footer = {"", "Example:", "  tokenstair import vllm-bench result.json --archive A"})
    static final class VllmBench extends Format {
        @Override
        Importer importer(ImportListener listener) {
            return new BenchImport(BenchImport.Tool.VLLM, LineSource.Limits.DEFAULT, listener);
        }
    }

    /** The format {@code sglang-bench}. */
    @Command(
            name = "sglang-bench",
            header = "sglang.bench_serving results: a client's gaps; nothing of the engine.",
            customSynopsis = "tokenstair import sglang-bench FILE... --archive DIR [--strict] [--debug]",
            description = {
                "Results of sglang.bench_serving.",
                "",
                "JSON lines that --output-file wrote, a run a line, plain or gzipped (.gz). Bare",
                "Infinity and NaN are read.",
                "",
                "With --output-details: when every chunk of every answer came. The file has no",
                "start times: each request is on a clock of its own, and which ran at the same",
                "time is not known. With the backend sglang a chunk of several tokens is listed",
                "as equal shares, which are put together again; with others a chunk is a token",
                "only where there are as many of one as of the other. Without details: aggregates",
                "of the run. Nothing here tells what the engine did: gaps, no causes. Texts are",
                "not taken over.",
                ""
            },
            footer = {"", "Example:", "  tokenstair import sglang-bench bench.jsonl --archive A"})
    static final class SglangBench extends Format {
        @Override
        Importer importer(ImportListener listener) {
            return new BenchImport(BenchImport.Tool.SGLANG, LineSource.Limits.DEFAULT, listener);
        }
    }

    /** The format {@code mooncake}. */
    @Command(
            name = "mooncake",
            header = "Mooncake request traces: arrivals, shared prefixes; no times of tokens.",
            customSynopsis = "tokenstair import mooncake FILE... --archive DIR [--strict] [--debug]",
            description = {
                "Request traces of the Mooncake project: a workload only.",
                "",
                "JSON lines with timestamp (ms), input_length, output_length and hash_ids, plain",
                "or gzipped (.gz).",
                "",
                "Can tell: who asked for what and when, how much of the prompts begins",
                "like earlier ones, and how coarse the arrival times are. No latency was",
                "measured, so nothing is said to be slow.",
                ""
            },
            footer = {"", "Example:", "  tokenstair import mooncake conversation_trace.jsonl --archive A"})
    static final class Mooncake extends Format {
        @Override
        Importer importer(ImportListener listener) {
            return new MooncakeImport(LineSource.Limits.DEFAULT, listener);
        }
    }

    /** The format {@code nsys-sqlite}. */
    @Command(
            name = "nsys-sqlite",
            header = "Kernels, waits and steps of an Nsight Systems export; no tokens.",
            customSynopsis = "tokenstair import nsys-sqlite FILE... --archive DIR [--engine NAME] [--clock ID]",
            description = {
                "Exports of Nsight Systems: nsys export --type sqlite REPORT.nsys-rep",
                "",
                "Can tell: kernels, graphs and copies, each with the call that launched it and",
                "  its wait in the queue; calls that waited for the device, with the driver's",
                "  code; allocations, with sizes where --cuda-memory-usage recorded them;",
                "  collectives; steps, where NVTX ranges are named execute_context_... or",
                "  [Executor] _forward_step.",
                "Cannot tell: requests and tokens; which rank a collective waited for; anything",
                "  of a GPU where the table of kernels is missing. A kernel whose launch lies",
                "  outside the recorded window has no launch time: it is never 0.",
                "",
                "The file is opened for reading only. Missing tables are named.",
                ""
            },
            footer = {"", "Example:", "  tokenstair import nsys-sqlite profile.sqlite --archive A"})
    static final class NsysSqlite extends ProfilerFormat {
        @Override
        Importer importer(ImportListener listener) throws ImportException {
            return new NsysImport(
                    TraceNames.given("--engine", engine),
                    TraceNames.given("--clock", clock),
                    LineSource.Limits.DEFAULT,
                    listener);
        }
    }

    /** The format {@code sse-capture}. */
    @Command(
            name = "sse-capture",
            header = "Streams as a client read them: every chunk, its tokens; no causes.",
            customSynopsis = "tokenstair import sse-capture FILE... --archive DIR [--strict] [--debug]",
            description = {
                "JSON lines with kind sent, status, line, body, client_abort or closed, req, and",
                "the stamps mono_ns and epoch_ns; line is one line of the answer as it came.",
                "Plain or gzipped (.gz). Docs: docs/import-engines.md",
                "",
                "Can tell: when every chunk came and how many tokens it held (by token ids,",
                "  running counts or probabilities, else one for a chunk with text); time to the",
                "  first token; what the answer's usage says of prompt and cache; errors, inside",
                "  a stream of status 200 too; who ended it; the ids by which others name it.",
                "  Role, progress, usage and end chunks are no tokens.",
                "Cannot tell: what the engine did: gaps, no causes. Join its own records.",
                "",
                "Prompts and texts are not taken over.",
                ""
            },
            footer = {"", "Example:", "  tokenstair import sse-capture sse_capture.jsonl.gz --archive A"})
    static final class SseCapture extends Format {
        @Override
        Importer importer(ImportListener listener) {
            return new SseCaptureImport(LineSource.Limits.DEFAULT, listener);
        }
    }

    /** The format {@code kv-events}. */
    @Command(
            name = "kv-events",
            header = "KV event messages over ZMQ: blocks stored and evicted; no requests.",
            customSynopsis = "tokenstair import kv-events FILE... --archive DIR [--engine NAME] [--strict]",
            description = {
                "JSON lines, a message each: frames_hex with the ZMQ frames (topic, sequence,",
                "payload; a replay has a delimiter before), recv_mono_ns and recv_epoch_ns. Both",
                "wire forms of vLLM, SGLang's and llm-d's. Plain or gzipped (.gz).",
                "",
                "Can tell: which blocks entered and left the prefix cache, when, and on which",
                "  others they follow; messages that were lost. Name a replay beside the live",
                "  file: it fills in what that missed, and counts nothing twice.",
                "Cannot tell: requests, hits, the space in use, what an eviction made room for.",
                "  Token ids are counted, never taken over.",
                ""
            },
            footer = {
                "",
                "Example:",
                "  tokenstair import kv-events kv_events_live.jsonl kv_events_replay.jsonl \\",
                "    --engine worker-17 --archive A"
            })
    static final class KvEvents extends Format {
        @Option(
                names = "--engine",
                paramLabel = "NAME",
                description = "The engine they are of, where its other records are imported too (default: the topic).")
        private @Nullable String engine;

        @Override
        Importer importer(ImportListener listener) throws ImportException {
            return new KvEventsImport(TraceNames.given("--engine", engine), LineSource.Limits.DEFAULT, listener);
        }
    }

    /** The format {@code dynamo-trace}. */
    @Command(
            name = "dynamo-trace",
            header = "Dynamo request traces: first token, mean gap; no single token.",
            customSynopsis = "tokenstair import dynamo-trace FILE... --archive DIR [--strict] [--debug]",
            description = {
                "JSON lines of the schema dynamo.request.trace.v1 (DYN_REQUEST_TRACE=1), plain or",
                "gzipped (.gz).",
                "",
                "Can tell: by request, when the frontend had it, its first token and its end, how",
                "  many tokens, their mean gap, and the worker that made them.",
                "Cannot tell: when any token but the first came: a stall is not visible in a mean.",
                "  Whether the client left. What was found in the cache: cached_tokens and",
                "  kv_hit_rate are the router's forecast, kept as samples; the usage of the answer",
                "  counts. prefill_time_ms holds the wait for admission, and is no prefill time.",
                ""
            },
            footer = {"", "Example:", "  tokenstair import dynamo-trace trace.000000.jsonl.gz --archive A"})
    static final class DynamoTrace extends Format {
        @Override
        Importer importer(ImportListener listener) {
            return new DynamoTraceImport(LineSource.Limits.DEFAULT, listener);
        }
    }

    /** The format {@code dynamo-fpm}. */
    @Command(
            name = "dynamo-fpm",
            header = "Forward-pass metrics: every step, its load; not which requests ran.",
            customSynopsis = "tokenstair import dynamo-fpm FILE... --archive DIR [--strict] [--debug]",
            description = {
                "JSON lines of the schema dynamo.fpm.trace.v1 (DYN_FPM_TRACE=1, DYN_FPM_MODE=full),",
                "of Dynamo's receiver (received_at_ns, metrics), or bare records; plain or gzipped.",
                "",
                "Can tell: every engine step with its length, its decodes and prompt tokens, who",
                "  waits, how many were preempted; time between steps in which none ran; lost",
                "  records. A record without work is a heartbeat and no step.",
                "Cannot tell: which request was in a step or preempted: no token is explained by",
                "  it. Of a simulator the length of a step is what it made up; the end is real.",
                ""
            },
            footer = {"", "Example:", "  tokenstair import dynamo-fpm fpm.17.000000.jsonl.gz --archive A"})
    static final class DynamoFpm extends Format {
        @Override
        Importer importer(ImportListener listener) {
            return new ForwardPassImport(LineSource.Limits.DEFAULT, listener);
        }
    }

    /** The format {@code llamacpp-log}. */
    @Command(
            name = "llamacpp-log",
            header = "llama-server's log: each task's work, context shifts; no tokens.",
            customSynopsis = "tokenstair import llamacpp-log FILE... --archive DIR [--engine NAME] [--strict]",
            description = {
                "The log of llama.cpp's llama-server with stamps (M.SS.mmm.uuu), plain or gzipped.",
                "",
                "Can tell: by task, what its prompt and its output took and how many tokens they",
                "  had, drafts, context shifts, that the context was full, which task failed.",
                "Cannot tell: when a token was made, or how long a task waited for a slot; the id",
                "  of its request: a stream of the same run (sse-capture) joins it by its work.",
                "  Without one the tasks are undated: stamps count from the start of the process.",
                "",
                "Texts that the log quotes are not taken over.",
                ""
            },
            footer = {"", "Example:", "  tokenstair import llamacpp-log server.log --archive A"})
    static final class LlamaCppLog extends Format {
        @Option(names = "--engine", paramLabel = "NAME", description = "What to call the engine (default: llamacpp).")
        private @Nullable String engine;

        @Override
        Importer importer(ImportListener listener) throws ImportException {
            return new LlamaCppLogImport(TraceNames.given("--engine", engine), LineSource.Limits.DEFAULT, listener);
        }
    }

    /** The format {@code aiperf}. */
    @Command(
            name = "aiperf",
            header = "AIPerf exports: a client's chunk gaps; nothing of the engine.",
            customSynopsis = "tokenstair import aiperf FILE... --archive DIR [--strict] [--debug]",
            description = {
                "Exports of AIPerf, plain or gzipped (.gz):",
                "",
                "  profile_export.jsonl         a record a request: every gap between chunks",
                "  profile_export_raw.jsonl     its packets; beside the former it adds the ids of",
                "                               the answers, by which others name the request",
                "  server_metrics_export.jsonl  scrapes of the server",
                "  profile_export_aiperf.json   aggregates: one mean gap a request, no stalls",
                "",
                "The time to the first token is from when the connection stood, so shorter than",
                "AIPerf's own, which holds the connecting. Token counts are the engine's. A",
                "cancelled request has no latencies. Nothing here tells what the engine did.",
                "Tables (csv, parquet) are not read; prompts and texts are not taken over.",
                ""
            },
            footer = {
                "",
                "Example:",
                "  tokenstair import aiperf profile_export.jsonl profile_export_raw.jsonl --archive A"
            })
    static final class Aiperf extends Format {
        @Override
        Importer importer(ImportListener listener) {
            return new AiperfImport(LineSource.Limits.DEFAULT, listener);
        }
    }

    /** The format {@code guidellm}. */
    @Command(
            name = "guidellm",
            header = "GuideLLM reports: first token and mean gap; no single token.",
            customSynopsis = "tokenstair import guidellm FILE... --archive DIR [--strict] [--debug]",
            description = {
                "Reports of guidellm --output kind=json, plain or gzipped (.gz), of any size.",
                "",
                "Can tell: by request, when it was sent, its first token, its end, how many tokens",
                "  and their mean gap; the id of its answer, by which others name it.",
                "Cannot tell: when any token but the first came: no longest gap, and none is made",
                "  up. What the engine did.",
                "",
                "The CSV holds less and is not read. Prompts and texts are not taken over.",
                ""
            },
            footer = {"", "Example:", "  tokenstair import guidellm benchmarks.json --archive A"})
    static final class GuideLlm extends Format {
        @Override
        Importer importer(ImportListener listener) {
            return new GuideLlmImport(LineSource.Limits.DEFAULT, listener);
        }
    }

    /** The format {@code trtllm-iterations}. */
    @Command(
            name = "trtllm-iterations",
            header = "TensorRT-LLM iterations: every step; rows with enable_iter_req_stats.",
            customSynopsis = "tokenstair import trtllm-iterations FILE... --archive DIR [--engine NAME] [--strict]",
            description = {
                "What GET /metrics of trtllm-serve answered (enable_iter_perf_stats: true): JSON",
                "arrays as they were polled, or an iteration a line; plain or gzipped (.gz).",
                "",
                "Can tell: every step with its length, its load, the blocks in use, who waits; with",
                "  enable_iter_req_stats which request was in it and what it got: causes of slow",
                "  tokens, preemptions.",
                "Cannot tell: delivery; the date: stamps are local time of a zone that is not said.",
                "  Without stamps finer than a second each step begins where the last one ended.",
                "  Iterations that nobody polled are lost, and counted.",
                ""
            },
            footer = {"", "Example:", "  tokenstair import trtllm-iterations iterations.json --archive A"})
    static final class TrtLlmIterations extends Format {
        @Option(names = "--engine", paramLabel = "NAME", description = "What to call the engine (default: trtllm).")
        private @Nullable String engine;

        @Override
        Importer importer(ImportListener listener) throws ImportException {
            return new IterationsImport(TraceNames.given("--engine", engine), LineSource.Limits.DEFAULT, listener);
        }
    }

    /** The format {@code triton-trace}. */
    @Command(
            name = "triton-trace",
            header = "Triton's trace files: waits and computing by request; no tokens.",
            customSynopsis = "tokenstair import triton-trace FILE... --archive DIR [--clock ID] [--strict]",
            description = {
                "What tritonserver --trace-config triton,file=FILE wrote (level TIMESTAMPS), the",
                "numbered files of log-frequency too; plain or gzipped.",
                "",
                "Can tell: by request and model, how long it waited in the queue (QUEUE_START to",
                "  COMPUTE_START) and what input, inference and output took; how long it was",
                "  received and sent; the client's id where it sent one (request_id).",
                "Cannot tell: tokens: an answer of a stream may hold any number; the date: stamps",
                "  are of a monotonic clock; which requests ran as one batch; requests that the",
                "  rate left out. Tensors are never taken over.",
                ""
            },
            footer = {
                "",
                "Examples:",
                "  tokenstair import triton-trace trace.json.0 trace.json.1 --archive A",
                "  tokenstair import triton-trace trace.json --archive A --clock monotonic@capture"
            })
    static final class TritonTrace extends ProfilerFormat {
        @Override
        Importer importer(ImportListener listener) throws ImportException {
            return new TritonTraceImport(
                    TraceNames.given("--engine", engine),
                    TraceNames.given("--clock", clock),
                    LineSource.Limits.DEFAULT,
                    listener);
        }
    }

    /** The format {@code tokenstair}. */
    @Command(
            name = "tokenstair",
            header = "A log folder or another archive: what it says, no more.",
            customSynopsis = "tokenstair import tokenstair FOLDER... --archive DIR [--strict] [--debug]",
            description = {
                "Folders that collectors of Tokenstair wrote (--to FOLDER), and the raw tables of",
                "other archives. Every event is kept as it is, with its id; result tables are not",
                "taken over: replay makes them. An event that comes twice is one.",
                ""
            },
            footer = {"", "Example:", "  tokenstair import tokenstair /var/log/tokenstair --archive A"})
    static final class Tokenstair extends Format {
        @Override
        Importer importer(ImportListener listener) {
            return new LogImport(listener);
        }
    }

    /** Prints what is missing, and on a terminal how far a long import is. */
    private static final class Report implements ImportListener {
        private final PrintWriter out;
        private final PrintWriter err;
        private final boolean terminal;

        Report(PrintWriter out, PrintWriter err, boolean terminal) {
            this.out = out;
            this.err = err;
            this.terminal = terminal;
        }

        @Override
        public void progress(String layer, long read) {
            if (terminal) {
                err.print(String.format(Locale.ROOT, "\rreading %s: %d records \r", layer, read));
                err.flush();
            }
        }

        @Override
        public void missing(String layer, String files, Path folder) {
            out.println("layer " + layer + ": missing (no " + files + " in " + folder + ")");
        }

        @Override
        public void said(String line) {
            out.println(line);
        }
    }
}
