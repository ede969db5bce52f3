package io.tokenstair.look.text;

import io.tokenstair.look.archive.TokenParts.NamedPart;
import java.io.IOException;
import java.util.List;

/** Parts of a time as a waterfall: each bar begins where the one before it ended, the last ends at the sum. */
final class Waterfall {
    private static final int MIN_BAR = 10;

    private Waterfall() {}

    /**
     * Writes a line per part that is not zero, and the sum.
     *
     * @param totalName what the parts add up to
     */
    static void write(Terminal terminal, List<NamedPart> parts, String totalName) throws IOException {
        long total = 0;
        long low = 0;
        long high = 0;
        for (NamedPart part : parts) {
            total += part.nanos();
            low = Math.min(low, total);
            high = Math.max(high, total);
        }
        int decimals = decimalsFor(Math.max(high, -low));
        int nameWidth = Math.max(Terminal.width(totalName), 12);
        int numberWidth = Quantity.decimals(total, decimals).length();
        for (NamedPart part : parts) {
            nameWidth = Math.max(nameWidth, part.name().length());
            numberWidth = Math.max(
                    numberWidth, Quantity.decimals(part.nanos(), decimals).length());
        }
        int barWidth = Math.max(MIN_BAR, terminal.columns() - nameWidth - numberWidth - 12);
        long position = 0;
        for (NamedPart part : parts) {
            long end = position + part.nanos();
            if (part.nanos() != 0) {
                String bar = bar(terminal, position, end, low, high, barWidth);
                boolean usual = part.name().equals("reference");
                terminal.line("  " + Terminal.left(Terminal.safe(part.name()), nameWidth) + "  "
                        + Terminal.right(Quantity.decimals(part.nanos(), decimals), numberWidth) + " ms  "
                        + (usual
                                ? bar
                                : terminal.styled(
                                        part.nanos() < 0 ? Terminal.Style.GREEN : Terminal.Style.YELLOW, bar)));
            }
            position = end;
        }
        terminal.line("  " + terminal.drawn("─", "-").repeat(nameWidth + numberWidth + 5));
        terminal.line("  " + terminal.styled(Terminal.Style.BOLD, Terminal.left(totalName, nameWidth)) + "  "
                + Terminal.right(Quantity.decimals(total, decimals), numberWidth) + " ms");
    }

    private static int decimalsFor(long largestNanos) {
        if (largestNanos >= 1_000_000_000L) {
            return 1;
        }
        return largestNanos >= 10_000_000L ? 2 : 3;
    }

    private static String bar(Terminal terminal, long from, long to, long low, long high, int width) {
        double scale = high == low ? 0 : (double) width / (high - low);
        int start = (int) Math.floor((Math.min(from, to) - low) * scale);
        int end = (int) Math.ceil((Math.max(from, to) - low) * scale);
        start = Math.min(start, width - 1);
        end = Math.max(start + 1, Math.min(end, width));
        String filled = to < from ? terminal.drawn("░", "<") : terminal.drawn("█", "#");
        return " ".repeat(start) + filled.repeat(end - start);
    }
}
