package io.tokenstair.look.text;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.LayerReport;
import io.tokenstair.archive.result.Remark;
import io.tokenstair.cause.Severity;
import io.tokenstair.look.archive.ArchiveSummary;
import io.tokenstair.look.archive.EvidenceSentence;
import io.tokenstair.look.slo.SloBreach;
import io.tokenstair.look.slo.SloBreaches;
import io.tokenstair.narrative.Language;
import io.tokenstair.narrative.Phrase;
import io.tokenstair.narrative.Translation;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The text form of {@code findings}: the archive in a few lines, then the findings, most severe first. */
public final class FindingsText {
    private static final int MARGIN = 12;
    private static final int CAUSE_WIDTH = 26;
    private static final int SUBJECT_WIDTH = 34;
    private static final int SHOWN_PARTS = 4;

    private FindingsText() {}

    /** Writes the archive in numbers. */
    public static void header(Terminal terminal, String archiveName, ArchiveSummary summary, Language language)
            throws IOException {
        row(terminal, Phrase.LABEL_FIND_ARCHIVE.say(language), Terminal.safe(archiveName));
        if (summary.fromEpochNanos() != null && summary.toEpochNanos() != null) {
            row(
                    terminal,
                    Phrase.LABEL_FIND_TIME.say(language),
                    Phrase.LABEL_FIND_SPAN.say(
                            language,
                            Quantity.stamp(summary.fromEpochNanos()),
                            Quantity.stamp(summary.toEpochNanos())));
        }
        String requests = Quantity.count(summary.requests());
        if (summary.sequences() != summary.requests()) {
            requests = (summary.sequences() == 1 ? Phrase.LABEL_FIND_ONE_SEQUENCE : Phrase.LABEL_FIND_SEQUENCES)
                    .say(language, requests, Quantity.count(summary.sequences()));
        }
        if (summary.sequencesWithoutToken() > 0) {
            requests += Phrase.LABEL_FIND_WITHOUT.say(language, Quantity.count(summary.sequencesWithoutToken()));
        }
        row(terminal, Phrase.LABEL_FIND_REQUESTS.say(language), requests);
        String tokens = Phrase.LABEL_FIND_SLOW.say(
                language, Quantity.count(summary.tokens()), Quantity.count(summary.slowTokens()));
        if (summary.slowTokens() > 0) {
            tokens += " (" + Quantity.share(summary.slowTokens(), summary.tokens()) + ")";
        }
        if (summary.lateTokens() > 0) {
            tokens += Phrase.LABEL_FIND_LATE.say(language, Quantity.count(summary.lateTokens()));
        }
        row(terminal, Phrase.LABEL_HEAD_TOKENS.say(language), tokens);
        long findings = summary.critical() + summary.warning() + summary.info();
        String bySeverity = findings == 0
                ? Phrase.LABEL_FIND_NONE.say(language)
                : styledCount(terminal, Terminal.Style.RED, summary.critical(), "critical") + ", "
                        + styledCount(terminal, Terminal.Style.YELLOW, summary.warning(), "warning") + ", "
                        + Quantity.count(summary.info()) + " info";
        row(terminal, Phrase.LABEL_FIND_FINDINGS.say(language), bySeverity);
        if (!summary.missingLayers().isEmpty()) {
            row(terminal, Phrase.LABEL_FIND_MISSING.say(language), missing(summary.missingLayers()));
        }
        for (LayerReport holed : summary.holedLayers()) {
            row(
                    terminal,
                    Phrase.LABEL_FIND_LOST.say(language),
                    Terminal.safe(holed.layer() + " (" + holed.engineId() + "): ")
                            + (Long.valueOf(1).equals(holed.lostCount())
                                            ? Phrase.LABEL_FIND_ONE_MESSAGE
                                            : Phrase.LABEL_FIND_MESSAGES)
                                    .say(
                                            language,
                                            String.valueOf(holed.firstLostNumber()),
                                            String.valueOf(holed.lastLostNumber()),
                                            Quantity.count(holed.lostCount() == null ? 0 : holed.lostCount())));
        }
    }

    /** Writes how often limits were broken. */
    public static void tallies(Terminal terminal, List<SloBreaches.Tally> tallies, Language language)
            throws IOException {
        List<String> told = new ArrayList<>();
        for (SloBreaches.Tally tally : tallies) {
            told.add(Phrase.LABEL_FIND_TALLY.say(
                    language,
                    tally.slo(),
                    Quantity.milliseconds(tally.limitNanos()),
                    tally.beyond() == 0 ? Phrase.LABEL_FIND_NONE.say(language) : Quantity.count(tally.beyond()),
                    Quantity.count(tally.known())));
        }
        row(terminal, Phrase.LABEL_FIND_LIMITS.say(language), String.join(", ", told));
    }

    /**
     * Writes one finding: a line that tells it apart, then what it says, in a language; of one that is only worth knowing, its first
     * sentence.
     */
    public static void finding(Terminal terminal, Finding finding, @Nullable SloBreach breach, Language language)
            throws IOException {
        boolean brief = finding.severity().equals(Severity.INFO.severityName());
        List<String> sentences = Translation.sentences(finding.narrative()).stream()
                .map(sentence -> Translation.sentence(language, sentence))
                .toList();
        if (!brief) {
            terminal.line();
        }
        terminal.line(severityLabel(terminal, finding.severity())
                + terminal.styled(
                        Terminal.Style.BOLD, Terminal.left(Terminal.safe(causeName(finding, language)), CAUSE_WIDTH))
                + " " + Terminal.left(terminal.fit(subject(finding, language), SUBJECT_WIDTH), SUBJECT_WIDTH)
                + "  " + tokens(finding, language));
        if (brief) {
            if (!sentences.isEmpty()) {
                String first = EvidenceSentence.parse(sentences.get(0)).text();
                terminal.line(" ".repeat(MARGIN) + terminal.cut(first, terminal.columns() - MARGIN));
            }
            return;
        }
        indented(
                terminal,
                Quantity.stamp(finding.fromEpochNanos()) + ", "
                        + certainty(language, finding.confidence(), finding.confidenceWhy()));
        if (breach != null) {
            indented(terminal, beyond(breach, language));
        }
        if (finding.culpritRequestId() != null) {
            indented(terminal, Phrase.LABEL_CULPRIT.say(language, finding.culpritRequestId()));
        }
        String parts = largestParts(finding);
        if (!parts.isEmpty()) {
            indented(terminal, parts);
        }
        for (String sentence : sentences) {
            indented(terminal, sentence);
        }
        if (!finding.missingLayers().isEmpty()) {
            indented(terminal, Phrase.LABEL_MISSING.say(language, String.join(", ", finding.missingLayers())));
        }
        String origin = Phrase.LABEL_ORIGIN.say(language, finding.rule(), finding.ruleRevision(), finding.findingId());
        for (String line : Terminal.wrapped(origin, terminal.columns() - MARGIN)) {
            terminal.line(" ".repeat(MARGIN) + terminal.styled(Terminal.Style.DIM, line));
        }
    }

    /** Writes one remark: what it speaks of, then what it says in a language and how sure that is. */
    public static void remark(Terminal terminal, Remark remark, Language language) throws IOException {
        terminal.line();
        terminal.line(Terminal.left(Phrase.LABEL_REMARK.say(language), MARGIN)
                + terminal.styled(Terminal.Style.BOLD, Terminal.left(Terminal.safe(remark.topic()), CAUSE_WIDTH)) + " "
                + terminal.fit(Terminal.safe(remark.subject()), terminal.columns() - MARGIN - CAUSE_WIDTH - 1));
        indented(terminal, Translation.narrative(language, remark.narrative()));
        indented(terminal, certainty(language, remark.confidence(), remark.confidenceWhy()));
    }

    private static String causeName(Finding finding, Language language) {
        return finding.cause().isEmpty() ? Phrase.LABEL_NO_CAUSE.say(language) : finding.cause();
    }

    /** How sure something is, and why. */
    static String certainty(Language language, String level, @Nullable String why) {
        String told = Translation.level(language, level);
        return why == null || why.isEmpty() ? told : told + ": " + Translation.reason(language, why);
    }

    /** What is beyond which limit. */
    static String beyond(SloBreach breach, Language language) {
        return Phrase.LABEL_LIMIT.say(
                language,
                breach.slo(),
                Quantity.milliseconds(breach.limitNanos()),
                Quantity.milliseconds(breach.measuredNanos()),
                breach.basis());
    }

    /** A severity as a label of fixed width. */
    static String severityLabel(Terminal terminal, String severity) {
        String label = Terminal.left(Terminal.safe(severity), MARGIN);
        return switch (severity) {
            case "critical" -> terminal.styled(Terminal.Style.RED, label);
            case "warning" -> terminal.styled(Terminal.Style.YELLOW, label);
            default -> label;
        };
    }

    private static String subject(Finding finding, Language language) {
        String requestId = finding.requestId();
        if (requestId != null) {
            return sequenceName(requestId, finding.lifetime(), finding.sequenceIndex());
        }
        return finding.engineId() == null
                ? Phrase.LABEL_FIND_WHOLE.say(language)
                : Phrase.LABEL_FIND_ENGINE.say(language, finding.engineId());
    }

    /** A sequence as people name it: the id, and what else is needed to tell it apart. */
    static String sequenceName(String requestId, @Nullable Integer lifetime, @Nullable Integer sequenceIndex) {
        String name = requestId;
        if (lifetime != null && lifetime > 0) {
            name += " life " + lifetime;
        }
        if (sequenceIndex != null && sequenceIndex > 0) {
            name += " seq " + sequenceIndex;
        }
        return name;
    }

    private static String tokens(Finding finding, Language language) {
        Integer first = finding.firstTokenIndex();
        Integer last = finding.lastTokenIndex();
        if (first == null) {
            return "";
        }
        return last == null || last.equals(first)
                ? Phrase.LABEL_TOKEN.say(language, first)
                : Phrase.LABEL_FIND_TOKENS.say(language, first, last);
    }

    private static String largestParts(Finding finding) {
        int parts = Math.min(finding.partNames().size(), finding.partNanos().size());
        List<Integer> largest = IntStream.range(0, parts)
                .boxed()
                .filter(part -> finding.partNanos().get(part) != 0)
                .sorted(Comparator.comparingLong(
                        (Integer part) -> -Math.abs(finding.partNanos().get(part))))
                .limit(SHOWN_PARTS)
                .toList();
        List<String> named = new ArrayList<>();
        for (int part : largest) {
            named.add(finding.partNames().get(part) + " "
                    + Quantity.milliseconds(finding.partNanos().get(part).longValue()));
        }
        return String.join(", ", named);
    }

    private static String missing(List<LayerReport> reports) {
        Map<String, List<String>> enginesByLayer = new TreeMap<>();
        for (LayerReport report : reports) {
            List<String> engines = enginesByLayer.computeIfAbsent(report.layer(), layer -> new ArrayList<>());
            if (report.engineId() != null) {
                engines.add(report.engineId());
            }
        }
        List<String> named = new ArrayList<>();
        enginesByLayer.forEach((layer, engines) -> named.add(Terminal.safe(layer)
                + (engines.isEmpty() ? "" : " (" + Terminal.safe(String.join(", ", engines)) + ")")));
        return String.join(", ", named);
    }

    private static String styledCount(Terminal terminal, Terminal.Style style, long count, String noun) {
        String text = Quantity.count(count) + " " + noun;
        return count == 0 ? text : terminal.styled(style, text);
    }

    private static void row(Terminal terminal, String name, String value) throws IOException {
        terminal.line(terminal.styled(Terminal.Style.DIM, Terminal.left(name, MARGIN)) + value);
    }

    private static void indented(Terminal terminal, String text) throws IOException {
        for (String line : Terminal.wrapped(text, terminal.columns() - MARGIN)) {
            terminal.line(" ".repeat(MARGIN) + line);
        }
    }
}
