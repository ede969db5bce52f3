package io.tokenstair.look.text;

import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.look.slo.SloBreach;
import io.tokenstair.narrative.Language;
import io.tokenstair.narrative.Phrase;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/**
 * The text form of one sequence: what it is, its gaps as a line, its slow tokens as a table. Tokens are added one at a time; only
 * the slow ones with the largest excess are kept.
 */
public final class RequestText {
    private static final int SHOWN_BREACHES = 5;
    private static final int SHOWN_TOKENS = 30;
    private static final int STATE_WIDTH = 11;
    private static final int CAUSE_WIDTH = 27;
    private static final Comparator<TokenAnalysis> BY_LOSS = Comparator.comparingLong(RequestText::lossNanos)
            .thenComparing(TokenAnalysis::tokenIndex, Comparator.reverseOrder());

    private final Terminal terminal;
    private final RequestAnalysis request;
    private final Language language;
    private final Sparkline gaps;
    private final PriorityQueue<TokenAnalysis> worst = new PriorityQueue<>(BY_LOSS);
    private long slowTokens;
    private long lateTokens;
    private long allAdded;
    private long lostNanos;
    private long largestGapNanos = -1;
    private int largestGapToken;
    private boolean unknownGap;
    private long beyond;
    private final List<String> shownBreaches = new ArrayList<>();

    /** A sequence whose tokens follow; what is said of it is in this language. */
    public RequestText(Terminal terminal, RequestAnalysis request, Language language) {
        this.terminal = terminal;
        this.request = request;
        this.language = language;
        this.gaps = new Sparkline(terminal.columns() - 4);
    }

    /** Adds the next token, in the order of their indexes. */
    public void add(TokenAnalysis token) {
        Long gapNanos = token.gapNanos();
        unknownGap |= gapNanos == null;
        // The first gap is the way to the first token: another scale than the gaps between tokens.
        if (token.tokenIndex() > 0) {
            gaps.add(gapNanos == null ? -1 : gapNanos);
            if (gapNanos != null && gapNanos > largestGapNanos) {
                largestGapNanos = gapNanos;
                largestGapToken = token.tokenIndex();
            }
        }
        if (token.cause() != null || token.deliveryCause() != null) {
            if (token.cause() != null) {
                slowTokens++;
                lostNanos += Math.max(0, lossNanos(token));
            }
            if (token.deliveryCause() != null) {
                lateTokens++;
            }
            allAdded++;
            worst.add(token);
            if (worst.size() > SHOWN_TOKENS) {
                worst.remove();
            }
        }
    }

    /** Adds what of it is beyond a limit. */
    public void beyond(SloBreach breach) {
        beyond++;
        if (shownBreaches.size() < SHOWN_BREACHES) {
            Integer index = breach.finding().firstTokenIndex();
            shownBreaches.add(
                    breach.slo().equals("ttft")
                            ? "TTFT " + Quantity.milliseconds(breach.measuredNanos())
                            : Phrase.LABEL_TOKEN.say(language, String.valueOf(index)) + " "
                                    + Quantity.milliseconds(breach.measuredNanos()));
        }
    }

    private String tokens(long count) {
        return count == 1
                ? Phrase.LABEL_ONE_TOKEN.say(language)
                : Phrase.LABEL_TOKENS.say(language, Quantity.count(count));
    }

    private static long lossNanos(TokenAnalysis token) {
        if (token.excessNanos() != null) {
            return token.excessNanos();
        }
        return token.gapNanos() == null ? 0 : token.gapNanos();
    }

    /** Writes the sequence after its last token. */
    public void write() throws IOException {
        title(terminal, request, language);
        List<String> facts = new ArrayList<>();
        Long tokens = request.tokenCount();
        facts.add(tokens == null ? Phrase.LABEL_TOKENS_NOT_COUNTED.say(language) : tokens(tokens));
        if (request.promptTokens() != null) {
            facts.add(Phrase.LABEL_PROMPT.say(language, Quantity.count(request.promptTokens()))
                    + (request.cachedTokens() == null
                            ? ""
                            : Phrase.LABEL_CACHED.say(language, Quantity.count(request.cachedTokens()))));
        }
        facts.add("TTFT " + Quantity.milliseconds(request.ttftNanos()));
        facts.add("TPOT " + Quantity.milliseconds(request.tpotNanos()));
        if (request.preemptions() != null && request.preemptions() > 0) {
            facts.add((request.preemptions() == 1
                            ? Phrase.LABEL_ONE_PREEMPTION.say(language)
                            : Phrase.LABEL_PREEMPTIONS.say(language, Quantity.count(request.preemptions())))
                    + (request.recomputedTokens() == null
                            ? ""
                            : Phrase.LABEL_RECOMPUTED.say(language, tokens(request.recomputedTokens()))));
        }
        terminal.line(String.join("   ", facts));
        if (!request.requestCauses().isEmpty()) {
            terminal.line(Phrase.LABEL_REQUEST_CAUSES.say(
                    language, Terminal.safe(String.join(", ", request.requestCauses()))));
        }
        if (beyond > 0) {
            String more =
                    beyond > shownBreaches.size() ? Phrase.LABEL_MORE.say(language, beyond - shownBreaches.size()) : "";
            terminal.line(Phrase.LABEL_BEYOND_LIMITS.say(language, String.join(", ", shownBreaches) + more));
        }
        if (!request.missingLayers().isEmpty()) {
            terminal.line(Phrase.LABEL_LAYERS.say(language, Terminal.safe(String.join(", ", request.missingLayers()))));
        }
        if (gaps.columns() > 0 && largestGapNanos >= 0) {
            terminal.line();
            terminal.line(Phrase.LABEL_GAPS.say(language, Quantity.milliseconds(largestGapNanos), largestGapToken)
                    + (gaps.tokensPerColumn() == 1 ? "" : Phrase.LABEL_WORST_OF.say(language, gaps.tokensPerColumn())));
            terminal.line("  " + gaps.draw(terminal));
        } else if (unknownGap) {
            terminal.line(Phrase.LABEL_NO_GAP.say(language));
        }
        terminal.line();
        if (worst.isEmpty()) {
            terminal.line(Phrase.LABEL_NO_SLOW_TOKEN.say(language));
        } else {
            slowTable();
        }
    }

    /** Writes the name of a sequence and how it ended. */
    static void title(Terminal terminal, RequestAnalysis request, Language language) throws IOException {
        String name = FindingsText.sequenceName(request.requestId(), request.lifetime(), request.sequenceIndex());
        String ending = request.endReason();
        if (request.errorType() != null) {
            ending += " (" + request.errorType() + ")";
        }
        if (request.warmup()) {
            ending += Phrase.LABEL_WARMUP.say(language);
        }
        if (!request.state().equals("complete")) {
            ending += Phrase.LABEL_RECORD.say(language, request.state());
        }
        terminal.line(Phrase.LABEL_REQUEST.say(
                language, terminal.styled(Terminal.Style.BOLD, Terminal.safe(name)), Terminal.safe(ending)));
        List<String> origin = new ArrayList<>();
        if (!request.aliases().isEmpty()) {
            origin.add(Phrase.LABEL_ALSO.say(language, String.join(", ", request.aliases())));
        }
        if (!request.engines().isEmpty()) {
            origin.add(Phrase.LABEL_ON.say(language, String.join(", ", request.engines())));
        }
        origin.add(
                request.fromEpochNanos() == null
                        ? Phrase.LABEL_UNDATED.say(language)
                        : Phrase.LABEL_FROM.say(language, Quantity.stamp(request.fromEpochNanos())));
        for (String line : Terminal.wrapped(String.join(", ", origin), terminal.columns())) {
            terminal.line(terminal.styled(Terminal.Style.DIM, line));
        }
    }

    private void slowTable() throws IOException {
        List<String> headings = new ArrayList<>();
        if (slowTokens > 0) {
            headings.add((slowTokens == 1 ? Phrase.LABEL_ONE_SLOW : Phrase.LABEL_SLOW)
                    .say(language, Quantity.milliseconds(lostNanos), Quantity.count(slowTokens)));
        }
        if (lateTokens > 0) {
            headings.add((lateTokens == 1 ? Phrase.LABEL_ONE_LATE : Phrase.LABEL_LATE)
                    .say(language, Quantity.count(lateTokens)));
        }
        String heading = String.join(", ", headings);
        terminal.line(allAdded > worst.size() ? heading + Phrase.LABEL_WORST.say(language, worst.size()) : heading);
        terminal.line(terminal.styled(
                Terminal.Style.DIM,
                "  " + Terminal.right(Phrase.LABEL_HEAD_TOKEN.say(language), 7)
                        + Terminal.right(Phrase.LABEL_HEAD_GAP.say(language), 12)
                        + Terminal.right(Phrase.LABEL_HEAD_EXPECTED.say(language), 12)
                        + Terminal.right(Phrase.LABEL_HEAD_REFERENCE.say(language), 12)
                        + (lateTokens > 0 ? Terminal.right(Phrase.LABEL_DELIVERY.say(language), 12) : "")
                        + "  " + Terminal.left(Phrase.LABEL_HEAD_STATE.say(language), STATE_WIDTH)
                        + Terminal.left(Phrase.LABEL_HEAD_CAUSE.say(language), CAUSE_WIDTH)
                        + Phrase.LABEL_HEAD_CONFIDENCE.say(language)));
        List<TokenAnalysis> byIndex = worst.stream()
                .sorted(Comparator.comparingInt(TokenAnalysis::tokenIndex))
                .toList();
        for (TokenAnalysis token : byIndex) {
            String cause = token.cause() != null
                    ? token.cause()
                    : Phrase.LABEL_LATE_BY.say(language, String.valueOf(token.deliveryCause()));
            String line = "  " + Terminal.right(Integer.toString(token.tokenIndex()), 7)
                    + Terminal.right(Quantity.decimals(token.gapNanos(), 1), 12)
                    + Terminal.right(Quantity.decimals(token.expectedNanos(), 1), 12)
                    + Terminal.right(Quantity.decimals(token.referenceNanos(), 1), 12)
                    + (lateTokens > 0 ? Terminal.right(Quantity.decimals(token.deliveryNanos(), 1), 12) : "")
                    + "  " + Terminal.left(Terminal.safe(token.state()), STATE_WIDTH)
                    + Terminal.left(Terminal.safe(cause), CAUSE_WIDTH)
                    + (token.confidence() == null ? "" : Terminal.safe(token.confidence()));
            if (token.culpritRequestId() != null) {
                line += Phrase.LABEL_BY.say(language, terminal.fit(token.culpritRequestId(), 24));
            }
            terminal.line(line);
        }
    }
}
