package io.tokenstair.look;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.Remark;
import io.tokenstair.cause.Severity;
import io.tokenstair.look.archive.FindingFilter;
import io.tokenstair.look.archive.ResultArchive;
import io.tokenstair.look.archive.RowCursor;
import io.tokenstair.look.json.FindingJson;
import io.tokenstair.look.json.JsonWriter;
import io.tokenstair.look.json.RemarkJson;
import io.tokenstair.look.slo.SloBreaches;
import io.tokenstair.look.slo.SloLimits;
import io.tokenstair.look.text.FindingsText;
import io.tokenstair.look.text.Quantity;
import io.tokenstair.look.text.Terminal;
import java.io.IOException;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Prints the findings of an archive. */
@Command(
        name = "findings",
        description = "What rules and detectors concluded: what, where, how bad, why.",
        sortOptions = false,
        footer = {
            "",
            "Exit codes: 0 done; 1 done, and --fail-on found such a finding; 2 wrong usage or unreadable input.",
            "",
            "Example:",
            "  tokenstair findings --archive out --severity warning"
        })
final class FindingsCommand implements Callable<Integer> {
    private final CommandOutput output;

    @Mixin
    private ReadingOptions options = new ReadingOptions();

    @Option(names = "--request", paramLabel = "ID", description = "Of this request only: its id or an alias.")
    private @Nullable String request;

    @Option(
            names = "--since",
            paramLabel = "T",
            description =
                    "That lasted until T or later: 2026-11-29, 2026-11-29T10:00:00Z, or a span back from the newest"
                            + " record such as 15m, 2h, 1d.")
    private @Nullable String since;

    @Option(names = "--severity", paramLabel = "S", description = "At least this severe: info, warning, critical.")
    private @Nullable Severity severity;

    @Option(
            names = "--fail-on",
            paramLabel = "SEVERITY",
            description = "Exit with 1 for a finding at least this severe.")
    private @Nullable Severity failOn;

    @Option(names = "--slo", paramLabel = "LIMITS", description = "Also what is beyond limits: ttft=2s,gap=300ms.")
    private @Nullable String slo;

    @Option(names = "--lang", paramLabel = "en|zh", description = "Language of the narrative: en (default) or zh.")
    private ReadingOptions.Lang lang = ReadingOptions.Lang.en;

    @Option(names = "--format", paramLabel = "text|json", description = "text (default), or json: one object a line.")
    private ReadingOptions.Format format = ReadingOptions.Format.text;

    @Option(names = "--remarks", description = "Remarks only: no causes of slow tokens.")
    private boolean remarks;

    private boolean failed;

    FindingsCommand(CommandOutput output) {
        this.output = output;
    }

    @Override
    public Integer call() {
        SloLimits limits = slo == null ? null : SloLimits.parse(slo);
        try (ResultArchive archive = options.open()) {
            ReadingOptions.demandKnown(archive, request);
            Long sinceEpochNanos = since == null ? null : Since.epochNanos(since, archive.newestEpochNanos());
            FindingFilter filter = new FindingFilter(request, severity, sinceEpochNanos);
            SloBreaches breaches = limits == null ? null : new SloBreaches(archive, limits);
            if (failOn != null) {
                // Asked before printing, so that a reader that goes away does not change the exit code.
                Severity atLeast = severity != null && severity.compareTo(failOn) > 0 ? severity : failOn;
                FindingFilter fails = new FindingFilter(request, atLeast, sinceEpochNanos);
                try (RowCursor<Finding> failing = archive.findingsBySeverity(fails, 1, 0)) {
                    failed = failing.hasNext() || (breaches != null && breaches.any(fails));
                }
            }
            if (remarks && format == ReadingOptions.Format.json) {
                printRemarksJson(archive);
            } else if (format == ReadingOptions.Format.json) {
                printJson(archive, filter, breaches);
            } else {
                printText(archive, filter, breaches);
            }
        }
        return failed ? 1 : 0;
    }

    private void printJson(ResultArchive archive, FindingFilter filter, @Nullable SloBreaches breaches) {
        output.bytes(out -> {
            try (JsonWriter json = new JsonWriter(out, false);
                    RowCursor<Finding> findings = archive.findings(filter)) {
                each(findings, breaches, filter, false, (finding, breach) -> {
                    FindingJson.write(json, finding, breach, lang.language());
                    json.endLine();
                });
            }
        });
    }

    private void printRemarksJson(ResultArchive archive) {
        output.bytes(out -> {
            try (JsonWriter json = new JsonWriter(out, false);
                    RowCursor<Remark> found = archive.remarks()) {
                while (found.hasNext()) {
                    RemarkJson.write(json, found.next(), lang.language());
                    json.endLine();
                }
            }
        });
    }

    private static void each(
            RowCursor<Finding> findings,
            @Nullable SloBreaches breaches,
            FindingFilter filter,
            boolean bySeverity,
            SloBreaches.Taker taker)
            throws IOException {
        if (breaches != null) {
            breaches.merge(findings, filter, bySeverity, taker);
            return;
        }
        while (findings.hasNext()) {
            taker.take(findings.next(), null);
        }
    }

    private void printText(ResultArchive archive, FindingFilter filter, @Nullable SloBreaches breaches) {
        output.text(terminal -> {
            FindingsText.header(terminal, options.archive().toString(), archive.summary(), lang.language());
            if (remarks) {
                printRemarks(archive, terminal);
                return;
            }
            if (breaches != null) {
                FindingsText.tallies(terminal, breaches.tallies(), lang.language());
            }
            long[] shown = new long[1];
            boolean[] brief = new boolean[1];
            try (RowCursor<Finding> findings = archive.findingsBySeverity(filter, Long.MAX_VALUE, 0)) {
                each(findings, breaches, filter, true, (finding, breach) -> {
                    if (!brief[0] && finding.severity().equals(Severity.INFO.severityName())) {
                        brief[0] = true;
                        terminal.line();
                    }
                    FindingsText.finding(terminal, finding, breach, lang.language());
                    shown[0]++;
                });
            }
            boolean filtered = !filter.equals(FindingFilter.ALL);
            if (!filtered) {
                printRemarks(archive, terminal);
            }
            if (filtered) {
                terminal.line();
                String undated = "";
                if (filter.sinceEpochNanos() != null) {
                    long hidden = archive.undatedFindings(filter);
                    undated = hidden == 0
                            ? ""
                            : String.format(
                                    Locale.ROOT,
                                    "; %s left out by --since",
                                    Quantity.counted(hidden, "undated finding"));
                }
                terminal.line(Quantity.counted(shown[0], "finding") + " shown" + undated);
            }
        });
    }

    private void printRemarks(ResultArchive archive, Terminal terminal) throws IOException {
        try (RowCursor<Remark> found = archive.remarks()) {
            while (found.hasNext()) {
                FindingsText.remark(terminal, found.next(), lang.language());
            }
        }
    }
}
