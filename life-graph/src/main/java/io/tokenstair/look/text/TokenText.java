package io.tokenstair.look.text;

import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.look.archive.EvidenceSentence;
import io.tokenstair.look.archive.TokenParts;
import io.tokenstair.look.slo.SloBreach;
import io.tokenstair.narrative.Language;
import io.tokenstair.narrative.Phrase;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** The text form of one token: its gap as a waterfall, why, and its delivery. */
public final class TokenText {
    private TokenText() {}

    /** Writes the token. */
    public static void write(
            Terminal terminal,
            RequestAnalysis request,
            TokenAnalysis token,
            Language language,
            List<SloBreach> breaches)
            throws IOException {
        RequestText.title(terminal, request, language);
        List<String> place = new ArrayList<>();
        Long tokens = request.tokenCount();
        place.add(
                tokens == null
                        ? Phrase.LABEL_TOKEN.say(language, token.tokenIndex())
                        : Phrase.LABEL_TOKEN_OF.say(language, token.tokenIndex(), Quantity.count(tokens)));
        if (token.stepId() != null) {
            place.add(
                    token.engineId() == null
                            ? Phrase.LABEL_STEP.say(language, token.stepId())
                            : Phrase.LABEL_STEP_OF.say(language, token.stepId(), token.engineId()));
        }
        if (token.batchSequences() != null) {
            place.add(Phrase.LABEL_BATCH.say(language, Quantity.count(token.batchSequences())));
        }
        if (token.contextTokens() != null) {
            place.add(Phrase.LABEL_CONTEXT.say(language, Quantity.count(token.contextTokens())));
        }
        if (token.producedEpochNanos() != null) {
            place.add(Phrase.LABEL_MADE.say(language, Quantity.stamp(token.producedEpochNanos()))
                    + (token.boundNanos() == null ? "" : " +- " + Quantity.milliseconds(token.boundNanos()))
                    + (token.sigmaNanos() == null ? "" : " (sigma " + Quantity.count(token.sigmaNanos()) + " ns)"));
        }
        for (String line : Terminal.wrapped(String.join(", ", place), terminal.columns())) {
            terminal.line(line);
        }
        terminal.line();
        verdict(terminal, token, language);
        for (SloBreach breach : breaches) {
            terminal.line(FindingsText.beyond(breach, language));
        }
        terminal.line();
        gap(terminal, token, language);
        if (!token.chain().isEmpty()) {
            terminal.line();
            terminal.line(terminal.styled(Terminal.Style.BOLD, Phrase.LABEL_WHY.say(language)));
            int number = 1;
            for (String archived : token.chain()) {
                sentence(terminal, number, EvidenceSentence.parse(archived, language));
                number++;
            }
        }
        delivery(terminal, token, language);
        if (!token.missingLayers().isEmpty()) {
            terminal.line();
            terminal.line(
                    Phrase.LABEL_MISSING_LAYERS.say(language, Terminal.safe(String.join(", ", token.missingLayers()))));
        }
    }

    private static void verdict(Terminal terminal, TokenAnalysis token, Language language) throws IOException {
        if (token.cause() == null) {
            terminal.line(Phrase.LABEL_ON_TIME.say(language, Terminal.safe(token.state())));
            return;
        }
        terminal.line(terminal.styled(Terminal.Style.RED, Terminal.safe(token.cause())) + "   "
                + Phrase.LABEL_STATE.say(language, Terminal.safe(token.state()))
                + (token.culpritRequestId() == null
                        ? ""
                        : "   "
                                + Phrase.LABEL_CULPRIT.say(
                                        language,
                                        terminal.styled(
                                                Terminal.Style.CYAN, Terminal.safe(token.culpritRequestId())))));
        if (token.confidence() != null) {
            String confidence = FindingsText.certainty(language, token.confidence(), token.confidenceWhy());
            for (String line : Terminal.wrapped(confidence, terminal.columns())) {
                terminal.line(line);
            }
        }
    }

    private static void gap(Terminal terminal, TokenAnalysis token, Language language) throws IOException {
        if (token.gapNanos() == null) {
            terminal.line(Phrase.LABEL_GAP_UNKNOWN.say(language));
            return;
        }
        String basis = "delivered".equals(token.gapBasis()) ? Phrase.LABEL_BY_ARRIVAL.say(language) : "";
        terminal.line(Phrase.LABEL_GAP.say(
                language,
                Quantity.milliseconds(token.gapNanos()),
                basis,
                Quantity.milliseconds(token.expectedNanos()),
                Quantity.milliseconds(token.referenceNanos()),
                Quantity.milliseconds(token.excessNanos())));
        List<TokenParts.NamedPart> parts = TokenParts.ofGap(token);
        if (!parts.isEmpty()) {
            terminal.line();
            Waterfall.write(terminal, parts, Phrase.LABEL_ROW_GAP.say(language));
        }
    }

    private static void sentence(Terminal terminal, int number, EvidenceSentence sentence) throws IOException {
        String lead = Terminal.right(number + ". ", 5);
        for (String line : Terminal.wrapped(sentence.text(), terminal.columns() - 5)) {
            terminal.line(lead + line);
            lead = " ".repeat(5);
        }
        if (!sentence.evidence().isEmpty()) {
            for (String line :
                    Terminal.wrapped("[" + String.join(", ", sentence.evidence()) + "]", terminal.columns() - 5)) {
                terminal.line(" ".repeat(5) + terminal.styled(Terminal.Style.DIM, line));
            }
        }
    }

    private static void delivery(Terminal terminal, TokenAnalysis token, Language language) throws IOException {
        if (token.deliveryNanos() == null) {
            return;
        }
        terminal.line();
        terminal.line(Phrase.LABEL_DELIVERED.say(language, Quantity.milliseconds(token.deliveryNanos()))
                + (token.isOrderUndecidable()
                        ? Phrase.LABEL_UNDECIDABLE.say(language, Quantity.milliseconds(token.deliveredBoundNanos()))
                        : "")
                + (token.deliveryCause() == null
                        ? ""
                        : ": " + terminal.styled(Terminal.Style.RED, Terminal.safe(token.deliveryCause()))));
        List<TokenParts.NamedPart> parts = TokenParts.ofDelivery(token);
        if (token.deliveryCause() != null && !parts.isEmpty()) {
            terminal.line();
            Waterfall.write(terminal, parts, Phrase.LABEL_DELIVERY.say(language));
        }
    }
}
