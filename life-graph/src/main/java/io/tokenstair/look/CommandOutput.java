package io.tokenstair.look;

import io.tokenstair.look.text.Terminal;
import java.io.BufferedOutputStream;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Help.Ansi;

/**
 * Where a command prints. Bytes are UTF-8 whatever the locale.
 *
 * @param out standard output; nothing is written to it past a broken pipe
 * @param colour whether escape sequences may be written
 * @param glyphs whether block characters may be drawn
 * @param columns width of text
 */
public record CommandOutput(OutputStream out, boolean colour, boolean glyphs, int columns) {
    private static final int DEFAULT_COLUMNS = 110;
    private static final int BUFFER_BYTES = 1 << 16;

    /** Standard output of this process: colour only on a terminal and without {@code NO_COLOR}. */
    public static CommandOutput ofProcess(OutputStream out, Map<String, String> environment) {
        boolean refused = !environment.getOrDefault("NO_COLOR", "").isEmpty() || "dumb".equals(environment.get("TERM"));
        String locale = Stream.of("LC_ALL", "LC_CTYPE", "LANG")
                .map(name -> environment.getOrDefault(name, ""))
                .filter(value -> !value.isEmpty())
                .findFirst()
                .orElse("");
        boolean utf8 = locale.toLowerCase(Locale.ROOT).replace("-", "").contains("utf8");
        return new CommandOutput(out, !refused && Ansi.AUTO.enabled(), utf8, columns(environment.get("COLUMNS")));
    }

    private static int columns(@Nullable String value) {
        return value != null && value.matches("[1-9]\\d{0,3}") ? Integer.parseInt(value) : DEFAULT_COLUMNS;
    }

    /** Prints bytes. */
    public interface BytePrinter {
        /** Prints. */
        void print(OutputStream out) throws IOException;
    }

    /** Prints text. */
    public interface TextPrinter {
        /** Prints. */
        void print(Terminal terminal) throws IOException;
    }

    /** Lets the printer write bytes; a reader that went away ends it quietly. */
    public void bytes(BytePrinter printer) {
        OutputStream buffered = new BufferedOutputStream(out, BUFFER_BYTES);
        try {
            printer.print(buffered);
            buffered.flush();
        } catch (IOException readerGone) {
            // The usual case is `| head`: whoever read has seen enough.
            return;
        }
    }

    /** Lets the printer write text; a reader that went away ends it quietly. */
    public void text(TextPrinter printer) {
        Writer writer = new BufferedWriter(new OutputStreamWriter(out, StandardCharsets.UTF_8), BUFFER_BYTES);
        try {
            printer.print(new Terminal(writer, colour, glyphs, columns));
            writer.flush();
        } catch (IOException readerGone) {
            return;
        }
    }
}
