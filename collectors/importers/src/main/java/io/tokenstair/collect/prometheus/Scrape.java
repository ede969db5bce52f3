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
 * that one file may hold several scrapes.
 */
public final class Scrape {
    private static final Pattern STAMPS = Pattern.compile("# scraped mono_ns=(\\d{1,18}) wall_ns=(\\d{1,19})\\s*");

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
                    Long wallMillis = at == null ? null : Long.valueOf(at.wallMillis());
                    events.add(
                            clockNanos == null ? 0 : clockNanos,
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
