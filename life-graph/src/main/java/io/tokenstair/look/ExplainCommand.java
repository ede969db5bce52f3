package io.tokenstair.look;

import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.look.archive.RequestFilter;
import io.tokenstair.look.archive.ResultArchive;
import io.tokenstair.look.archive.RowCursor;
import io.tokenstair.look.archive.SequenceKey;
import io.tokenstair.look.archive.SequenceSummary;
import io.tokenstair.look.archive.UnusableInputException;
import io.tokenstair.look.json.ExplainJson;
import io.tokenstair.look.json.JsonWriter;
import io.tokenstair.look.slo.SloBreach;
import io.tokenstair.look.slo.SloBreaches;
import io.tokenstair.look.slo.SloLimits;
import io.tokenstair.look.slo.SloMarks;
import io.tokenstair.look.text.RequestText;
import io.tokenstair.look.text.RequestsText;
import io.tokenstair.look.text.Terminal;
import io.tokenstair.look.text.TokenText;
import io.tokenstair.narrative.Language;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Prints where the time of requests and tokens went. */
@Command(
        name = "explain",
        description = "Where the time of each token went. Without --request: every request.",
        sortOptions = false,
        footer = {
            "",
            "Exit codes: 0 done; 2 wrong usage or unreadable input.",
            "",
            "Example:",
            "  tokenstair explain --archive out --request chat-17 --token 142"
        })
final class ExplainCommand implements Callable<Integer> {
    private final CommandOutput output;

    @Mixin
    private ReadingOptions options = new ReadingOptions();

    @Option(names = "--request", paramLabel = "ID", description = "This request only: its id or an alias.")
    private @Nullable String request;

    @Option(
            names = "--sequence",
            paramLabel = "N",
            description = "This sequence only (n > 1, several prompts), from 0.")
    private @Nullable Integer sequence;

    @Option(names = "--token", paramLabel = "N", description = "This output token only, from 0.")
    private @Nullable Integer token;

    @Option(names = "--lang", paramLabel = "en|zh", description = "Language of the text: en (default) or zh.")
    private ReadingOptions.Lang lang = ReadingOptions.Lang.en;

    @Option(names = "--format", paramLabel = "text|json", description = "text (default), or json: one object a line.")
    private ReadingOptions.Format format = ReadingOptions.Format.text;

    @Option(
            names = "--slo",
            paramLabel = "LIMITS",
            description = "Mark what is beyond ttft=2s,gap=300ms: one or both, with s, ms or us.")
    private @Nullable String slo;

    ExplainCommand(CommandOutput output) {
        this.output = output;
    }

    @Override
    public Integer call() {
        SloLimits limits = slo == null ? null : SloLimits.parse(slo);
        try (ResultArchive archive = options.open()) {
            ReadingOptions.demandKnown(archive, request);
            RequestFilter filter = new RequestFilter(request, sequence, token);
            if (request != null && (sequence != null || token != null)) {
                demandPresent(archive, request);
            }
            try (SloMarks marks = new SloMarks(limits == null ? null : new SloBreaches(archive, limits), filter)) {
                if (format == ReadingOptions.Format.json) {
                    printJson(archive, filter, marks);
                } else if (request == null && token == null) {
                    printTable(archive, filter);
                } else {
                    printText(archive, filter, marks);
                }
            }
        }
        return 0;
    }

    private void demandPresent(ResultArchive archive, String requestId) {
        try (RowCursor<RequestAnalysis> requests = archive.requests(new RequestFilter(requestId, sequence, null))) {
            if (!requests.hasNext()) {
                throw new UnusableInputException(
                        Terminal.safe("Cannot find sequence " + sequence + " of request " + requestId) + "."
                                + " List its sequences without --sequence");
            }
            if (token != null) {
                long most = 0;
                while (requests.hasNext()) {
                    Long tokens = requests.next().tokenCount();
                    most = Math.max(most, tokens == null ? 0 : tokens);
                }
                try (RowCursor<TokenAnalysis> tokens = archive.tokens(new RequestFilter(requestId, sequence, token))) {
                    if (!tokens.hasNext()) {
                        throw new UnusableInputException(
                                Terminal.safe("Cannot find token " + token + " of request " + requestId)
                                        + ": it has "
                                        + (most == 0 ? "no token" : most + ", from 0 to " + (most - 1)));
                    }
                }
            }
        }
    }

    private void printJson(ResultArchive archive, RequestFilter filter, SloMarks marks) {
        output.bytes(out -> {
            try (JsonWriter json = new JsonWriter(out, false)) {
                forEachSequence(archive, filter, new SequenceVisitor() {
                    @Override
                    public void begin(RequestAnalysis sequenceRow) throws IOException {
                        ExplainJson.begin(json, sequenceRow, marks.ofSequence(SequenceKey.of(sequenceRow)));
                    }

                    @Override
                    public void token(RequestAnalysis sequenceRow, TokenAnalysis tokenRow) throws IOException {
                        ExplainJson.token(
                                json,
                                tokenRow,
                                lang.language(),
                                marks.ofToken(SequenceKey.of(tokenRow), tokenRow.tokenIndex()));
                    }

                    @Override
                    public void end(RequestAnalysis sequenceRow) throws IOException {
                        ExplainJson.end(json);
                        json.endLine();
                    }
                });
            }
        });
    }

    private void printTable(ResultArchive archive, RequestFilter filter) {
        output.text(terminal -> {
            RequestsText.header(terminal, lang.language());
            try (RowCursor<SequenceSummary> summaries = archive.summaries(filter)) {
                while (summaries.hasNext()) {
                    RequestsText.row(terminal, summaries.next(), lang.language());
                }
            }
        });
    }

    private void printText(ResultArchive archive, RequestFilter filter, SloMarks marks) {
        output.text(terminal -> {
            SequenceVisitor printer = token == null
                    ? new OverviewPrinter(terminal, lang.language(), marks)
                    : new TokenPrinter(terminal, lang.language(), marks);
            forEachSequence(archive, filter, printer);
        });
    }

    /** Sees sequences and their tokens, one at a time and in order. */
    private interface SequenceVisitor {
        void begin(RequestAnalysis sequenceRow) throws IOException;

        void token(RequestAnalysis sequenceRow, TokenAnalysis tokenRow) throws IOException;

        void end(RequestAnalysis sequenceRow) throws IOException;
    }

    private static void forEachSequence(ResultArchive archive, RequestFilter filter, SequenceVisitor visitor)
            throws IOException {
        try (RowCursor<RequestAnalysis> requests = archive.requests(filter);
                RowCursor<TokenAnalysis> tokens = archive.tokens(filter)) {
            while (requests.hasNext()) {
                RequestAnalysis sequenceRow = requests.next();
                SequenceKey key = SequenceKey.of(sequenceRow);
                visitor.begin(sequenceRow);
                for (TokenAnalysis next = tokens.peek();
                        next != null && SequenceKey.of(next).equals(key);
                        next = tokens.peek()) {
                    visitor.token(sequenceRow, tokens.next());
                }
                visitor.end(sequenceRow);
            }
        }
    }

    /** Prints each sequence as an overview. */
    private static final class OverviewPrinter implements SequenceVisitor {
        private final Terminal terminal;
        private final Language language;
        private final SloMarks marks;
        private @Nullable RequestText current;
        private boolean first = true;

        OverviewPrinter(Terminal terminal, Language language, SloMarks marks) {
            this.terminal = terminal;
            this.language = language;
            this.marks = marks;
        }

        @Override
        public void begin(RequestAnalysis sequenceRow) throws IOException {
            if (!first) {
                terminal.line();
            }
            first = false;
            current = new RequestText(terminal, sequenceRow, language);
            marks.ofSequence(SequenceKey.of(sequenceRow)).forEach(current::beyond);
        }

        @Override
        public void token(RequestAnalysis sequenceRow, TokenAnalysis tokenRow) {
            if (current != null) {
                current.add(tokenRow);
                marks.ofToken(SequenceKey.of(tokenRow), tokenRow.tokenIndex()).forEach(current::beyond);
            }
        }

        @Override
        public void end(RequestAnalysis sequenceRow) throws IOException {
            if (current != null) {
                current.write();
            }
        }
    }

    /** Prints each token. */
    private static final class TokenPrinter implements SequenceVisitor {
        private final Terminal terminal;
        private final Language language;
        private final SloMarks marks;
        private boolean first = true;

        TokenPrinter(Terminal terminal, Language language, SloMarks marks) {
            this.terminal = terminal;
            this.language = language;
            this.marks = marks;
        }

        @Override
        public void begin(RequestAnalysis sequenceRow) {
            // Sequences without the token are not shown.
        }

        @Override
        public void token(RequestAnalysis sequenceRow, TokenAnalysis tokenRow) throws IOException {
            if (!first) {
                terminal.line();
            }
            first = false;
            List<SloBreach> breaches = new ArrayList<>();
            if (tokenRow.tokenIndex() == 0) {
                breaches.addAll(marks.ofSequence(SequenceKey.of(sequenceRow)));
            }
            breaches.addAll(marks.ofToken(SequenceKey.of(tokenRow), tokenRow.tokenIndex()));
            TokenText.write(terminal, sequenceRow, tokenRow, language, breaches);
        }

        @Override
        public void end(RequestAnalysis sequenceRow) {
            // Everything was said with the token.
        }
    }
}
