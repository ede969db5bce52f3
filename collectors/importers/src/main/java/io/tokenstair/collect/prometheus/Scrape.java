package io.tokenstair.collect.prometheus;

import io.tokenstair.collect.importer.RecordReader;
import io.tokenstair.collect.input.LineSource;
import io.tokenstair.collect.input.RejectedRecordException;
import io.tokenstair.collect.input.StampPair;
import io.tokenstair.collect.output.CollectorSpool;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.foreign.ForeignFormatException;
import io.tokenstair.foreign.PrometheusLine;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A scrape as a file: one sample a line, each accepted or refused. A line {@code # scraped mono_ns=N wall_ns=N} dates what follows it, so
 * that one file may hold several scrapes. Where nothing does, a sample's own stamp dates it: ms since 1970, or seconds as OpenMetrics has them.
 */
public final class Scrape {
    private static final Pattern STAMPS = Pattern.compile("# scraped mono_ns=(\\d{1,18}) wall_ns=(\\d{1,19})\\s*");

    /** A value and its stamp. */
    private static final Pattern OWN_STAMP = Pattern.compile("\\S+\\s+(\\d{10,13}(?:\\.\\d{1,9})?)");

    private static final long FIRST_MILLIS = 1_000_000_000_000L;
    private static final long END_MILLIS = 4_102_444_800_000L;

    private Scrape() {}

    /**
     * Reads a scrape.
     *
     * @param reader counts its lines
     * @param file the scrape
     * @param source what the samples say they come from
     * @param scraped its stamps where no line of it states them; null when undated
     * @param events takes the samples
     */
    public static void read(
            RecordReader reader, Path file, String source, @Nullable StampPair scraped, CollectorSpool events)
            throws IOException {
        StampPair at = scraped;
        try (LineSource lines = reader.open(file)) {
            while (lines.next()) {
                String line = new String(lines.bytes(), 0, lines.length(), StandardCharsets.UTF_8);
                if (!lines.tooLong() && line.startsWith("#")) {
                    StampPair stated = stamps(line);
                    at = stated == null ? at : stated;
                    continue;
                }
                try {
                    if (lines.tooLong()) {
                        throw new RejectedRecordException("a line that is too long");
                    }
                    PrometheusLine sample = PrometheusLine.parse(line.trim());
                    Long clockNanos = at == null ? null : Long.valueOf(at.monotonicNanos());
                    Long wallMillis = at == null ? ownMillis(line.trim()) : Long.valueOf(at.wallMillis());
                    events.add(
                            clockNanos != null ? clockNanos : wallMillis != null ? wallMillis * 1_000_000L : 0,
                            clockNanos,
                            wallMillis,
                            new MetricSampled(source, sample.name(), sample.labels(), sample.value()));
                    reader.accepted(wallMillis);
                } catch (RejectedRecordException e) {
                    reader.rejected(reader.sourceName(file), lines.lineNumber(), e.reason(), null);
                } catch (ForeignFormatException e) {
                    reader.rejected(reader.sourceName(file), lines.lineNumber(), e.reason(), null);
                }
            }
            reader.rejectDefect(lines);
        }
    }

    /** When a sample says it was taken, in ms since 1970; null where it does not say, or not in a unit that is meant. */
    private static @Nullable Long ownMillis(String line) {
        // A label may hold what looks like a stamp, an exemplar's label a brace: the value begins behind the sample's
        // own labels.
        int exemplar = line.indexOf(" # {");
        String sample = exemplar < 0 ? line : line.substring(0, exemplar);
        int labels = sample.lastIndexOf('}');
        int value = labels >= 0 ? labels + 1 : sample.indexOf(' ');
        Matcher stamp =
                OWN_STAMP.matcher(value < 0 ? "" : sample.substring(value).trim());
        if (!stamp.matches()) {
            return null;
        }
        double read = Double.parseDouble(stamp.group(1));
        long millis = (long) (read < FIRST_MILLIS ? StrictMath.rint(read * 1_000) : read);
        return millis >= FIRST_MILLIS && millis < END_MILLIS ? Long.valueOf(millis) : null;
    }

    private static @Nullable StampPair stamps(String line) {
        Matcher stamps = STAMPS.matcher(line);
        if (!stamps.matches()
                || stamps.group(2).compareTo("9223372036854775807") > 0
                        && stamps.group(2).length() == 19) {
            return null;
        }
        return new StampPair(Long.parseLong(stamps.group(1)), Long.parseLong(stamps.group(2)));
    }
}
