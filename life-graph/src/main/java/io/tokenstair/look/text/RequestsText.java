package io.tokenstair.look.text;

import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.look.archive.SequenceSummary;
import io.tokenstair.narrative.Language;
import io.tokenstair.narrative.Phrase;
import java.io.IOException;

/** The text form of all sequences: a table, a line each. */
public final class RequestsText {
    private static final int NAME_WIDTH = 30;

    private RequestsText() {}

    /** Writes the names of the columns. */
    public static void header(Terminal terminal, Language language) throws IOException {
        terminal.line(terminal.styled(
                Terminal.Style.DIM,
                Terminal.left(Phrase.LABEL_HEAD_REQUEST.say(language), NAME_WIDTH)
                        + Terminal.right(Phrase.LABEL_HEAD_TOKENS.say(language), 8)
                        + Terminal.right(Phrase.LABEL_HEAD_SLOW.say(language), 7)
                        + Terminal.right(Phrase.LABEL_HEAD_TTFT.say(language), 12)
                        + Terminal.right(Phrase.LABEL_HEAD_TPOT.say(language), 10)
                        + Terminal.right(Phrase.LABEL_HEAD_WORST.say(language), 12)
                        + "  " + Terminal.left(Phrase.LABEL_HEAD_END.say(language), 12)
                        + Phrase.LABEL_HEAD_WORST_CAUSE.say(language)));
    }

    /** Writes a sequence. */
    public static void row(Terminal terminal, SequenceSummary summary, Language language) throws IOException {
        RequestAnalysis request = summary.request();
        String name = FindingsText.sequenceName(request.requestId(), request.lifetime(), request.sequenceIndex());
        String cause = String.join(" ", request.requestCauses());
        if (summary.worstCause() != null) {
            cause = Phrase.LABEL_CAUSE_AT.say(
                    language, summary.worstCause(), String.valueOf(summary.worstTokenIndex()));
        } else if (request.warmup()) {
            cause = Phrase.LABEL_NOT_ANALYSED.say(language);
        } else if (request.errorType() != null) {
            cause = "(" + request.errorType() + ")";
        }
        String end = switch (request.endReason()) {
            case "aborted-by-client" -> "aborted";
            default -> request.endReason();
        };
        String slow = Terminal.right(Quantity.count(summary.slowTokens()), 7);
        terminal.line(Terminal.left(terminal.fit(name, NAME_WIDTH - 2), NAME_WIDTH)
                + Terminal.right(tokens(request), 8)
                + (summary.slowTokens() == 0 ? slow : terminal.styled(Terminal.Style.YELLOW, slow))
                + Terminal.right(Quantity.decimals(request.ttftNanos(), 1), 12)
                + Terminal.right(Quantity.decimals(request.tpotNanos(), 2), 10)
                + Terminal.right(Quantity.decimals(summary.worstGapNanos(), 1), 12)
                + "  " + Terminal.left(terminal.fit(end, 10), 12)
                + Terminal.safe(cause));
    }

    private static String tokens(RequestAnalysis request) {
        Long tokens = request.tokenCount();
        return tokens == null ? "-" : Quantity.count(tokens);
    }
}
