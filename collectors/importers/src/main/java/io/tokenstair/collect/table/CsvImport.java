package io.tokenstair.collect.table;

import io.tokenstair.collect.importer.FileImport;
import io.tokenstair.collect.importer.ImportException;
import io.tokenstair.collect.importer.ImportListener;
import io.tokenstair.collect.importer.RecordReader;
import io.tokenstair.collect.input.Excerpt;
import io.tokenstair.collect.input.FileDigest;
import io.tokenstair.collect.input.LineSource;
import io.tokenstair.collect.input.RejectedRecordException;
import io.tokenstair.collect.output.CollectorSpool;
import io.tokenstair.collect.output.EventSpools;
import io.tokenstair.event.EngineConfigured;
import io.tokenstair.event.Event;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.event.SequenceRows;
import io.tokenstair.event.StepCompleted;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVParser;
import org.apache.commons.csv.CSVRecord;
import org.jspecify.annotations.Nullable;

/**
 * Imports CSV files with a header line: a row an engine step, or a row a reading of the engine. Rows are undated: their times are those
 * of a clock of the file's own. A step without an end follows the one before it.
 */
public final class CsvImport extends FileImport {
    private static final char[] DELIMITERS = {',', ';', '\t'};
    private static final int MAX_ROW_CHARS = 1 << 20;

    private final CsvMap map;
    private final @Nullable Integer maxSequences;

    /** An import by this map. */
    public CsvImport(CsvMap map, LineSource.Limits limits, ImportListener listener) {
        this(map, null, limits, listener);
    }

    /**
     * An import by this map.
     *
     * @param maxSequences most sequences that the engine runs at once, which no column of such files says; null when not known
     */
    public CsvImport(CsvMap map, @Nullable Integer maxSequences, LineSource.Limits limits, ImportListener listener) {
        super("steps-csv", limits, listener);
        this.map = map;
        this.maxSequences = maxSequences;
    }

    /** What the user says of the engine, before the first row. */
    private void configure(CollectorSpool events) throws IOException {
        if (maxSequences != null) {
            events.add(
                    0,
                    null,
                    null,
                    new EngineConfigured(
                            map.engineId(), 0, null, null, null, maxSequences, null, null, null, null, null, null));
        }
    }

    /** What the rows before the one at hand have used up. */
    private static final class Place {
        long rows;
        long endNanos;
        long nextStepId;
        char delimiter = ',';
    }

    @Override
    protected void read(Path file, int index, RecordReader reader, EventSpools spools)
            throws IOException, ImportException {
        String source = String.valueOf(file.getFileName());
        CollectorSpool events = spools.collector(
                "steps-csv", FileDigest.of(file, map.toString(), String.valueOf(maxSequences)), source + "/time");
        configure(events);
        Map<String, Integer> header = null;
        Place place = new Place();
        try (LineSource lines = reader.open(file)) {
            while (lines.next()) {
                String text = new String(lines.bytes(), 0, lines.length(), StandardCharsets.UTF_8);
                try {
                    if (lines.tooLong()) {
                        throw new RejectedRecordException("a line that is too long");
                    }
                    if (header == null) {
                        header = header(file, text, place);
                        continue;
                    }
                    text = toItsEnd(text, lines);
                    CSVRecord row = row(text, place.delimiter);
                    if (!wanted(row, header)) {
                        continue;
                    }
                    place.rows++;
                    for (Sample sample :
                            map.steps() ? step(row, header, place) : readings(row, header, source, place)) {
                        events.add(place.rows, sample.clockNanos(), null, sample.event());
                    }
                    reader.accepted(null);
                } catch (RejectedRecordException e) {
                    reader.rejected(
                            source, lines.lineNumber(), e.reason(), Excerpt.ofJson(lines.bytes(), lines.length()));
                }
            }
            reader.rejectDefect(lines);
        }
    }

    private record Sample(long clockNanos, Event event) {}

    /** A row with the lines that follow, while a field that began with a quote has not ended: a field may hold line breaks. */
    private static String toItsEnd(String text, LineSource lines) throws IOException {
        if (text.indexOf('"') < 0 || text.chars().filter(c -> c == '"').count() % 2 == 0) {
            return text;
        }
        StringBuilder row = new StringBuilder(text);
        long quotes = text.chars().filter(c -> c == '"').count();
        while (quotes % 2 != 0 && row.length() < MAX_ROW_CHARS && lines.next()) {
            String more = new String(lines.bytes(), 0, lines.length(), StandardCharsets.UTF_8);
            row.append('\n').append(more);
            quotes += more.chars().filter(c -> c == '"').count();
        }
        return row.toString();
    }

    private static CSVRecord row(String text, char delimiter) throws RejectedRecordException {
        CSVFormat format = CSVFormat.RFC4180.builder().setDelimiter(delimiter).get();
        try (CSVParser parser = CSVParser.parse(text, format)) {
            List<CSVRecord> records = parser.getRecords();
            if (records.size() != 1) {
                throw new RejectedRecordException("not one row of CSV");
            }
            return records.get(0);
        } catch (IOException | java.io.UncheckedIOException e) {
            throw new RejectedRecordException("not a row of CSV: " + e.getMessage());
        }
    }

    /** The columns by name, parted by the first of comma, semicolon and tab by which the header has all that are wanted. */
    private Map<String, Integer> header(Path file, String text, Place place) throws ImportException {
        List<String> wanted = new ArrayList<>();
        map.columns().values().forEach(column -> wanted.add(column.column()));
        if (map.whereColumn() != null) {
            wanted.add(map.whereColumn());
        }
        Map<String, Integer> best = Map.of();
        for (char delimiter : DELIMITERS) {
            Map<String, Integer> header = new HashMap<>();
            try {
                CSVRecord row = row(text, delimiter);
                for (int i = 0; i < row.size(); i++) {
                    header.putIfAbsent(row.get(i).strip(), i);
                }
            } catch (RejectedRecordException e) {
                continue;
            }
            if (header.keySet().containsAll(wanted)) {
                place.delimiter = delimiter;
                return header;
            }
            best = header.size() > best.size() ? header : best;
        }
        Set<String> has = best.keySet();
        String missing = wanted.stream()
                .filter(column -> !has.contains(column))
                .findFirst()
                .orElse(wanted.get(0));
        throw new ImportException(file + ": the header line has no column " + missing + "; it has "
                + String.join(", ", has.stream().sorted().limit(50).toList()) + "; name those with --map");
    }

    private boolean wanted(CSVRecord row, Map<String, Integer> header) {
        Integer at = map.whereColumn() == null ? null : header.get(map.whereColumn());
        return at == null || (at < row.size() && row.get(at).strip().equals(map.whereValue()));
    }

    private @Nullable BigDecimal number(CSVRecord row, Map<String, Integer> header, CsvField field)
            throws RejectedRecordException {
        String text = text(row, header, field);
        if (text == null) {
            return null;
        }
        CsvMap.Source source = map.columns().get(field);
        if (text.indexOf('.') < 0 && text.indexOf(',') == text.lastIndexOf(',')) {
            // A table from where the decimal mark is a comma.
            text = text.replace(',', '.');
        }
        if (text.length() > 40 || !text.matches("[+-]?(\\d+(\\.\\d*)?|\\.\\d+)([eE][+-]?\\d{1,3})?")) {
            throw new RejectedRecordException("column " + (source == null ? "" : source.column()) + ": no number");
        }
        BigDecimal value = new BigDecimal(text);
        if (value.signum() < 0) {
            throw new RejectedRecordException(
                    "column " + (source == null ? "" : source.column()) + ": " + field.fieldName() + " is negative");
        }
        return value;
    }

    private @Nullable String text(CSVRecord row, Map<String, Integer> header, CsvField field)
            throws RejectedRecordException {
        CsvMap.Source source = map.columns().get(field);
        Integer at = source == null ? null : header.get(source.column());
        if (at == null) {
            return null;
        }
        if (at >= row.size()) {
            throw new RejectedRecordException("the row has " + row.size() + " columns, the header more");
        }
        String text = row.get(at).strip();
        return text.isEmpty() ? null : text;
    }

    private @Nullable Long nanos(CSVRecord row, Map<String, Integer> header, CsvField field)
            throws RejectedRecordException {
        BigDecimal value = number(row, header, field);
        CsvMap.Source source = map.columns().get(field);
        if (value == null || source == null) {
            return null;
        }
        BigDecimal nanos = value.multiply(BigDecimal.valueOf(source.nanosPerUnit()));
        if (nanos.compareTo(BigDecimal.valueOf(Long.MAX_VALUE / 4)) > 0) {
            throw new RejectedRecordException("column " + source.column() + ": a time of more than 70 years");
        }
        return nanos.setScale(0, java.math.RoundingMode.HALF_UP).longValueExact();
    }

    private @Nullable Long count(CSVRecord row, Map<String, Integer> header, CsvField field)
            throws RejectedRecordException {
        BigDecimal value = number(row, header, field);
        if (value == null) {
            return null;
        }
        try {
            return value.longValueExact();
        } catch (ArithmeticException e) {
            throw new RejectedRecordException(field.fieldName() + ": " + value + " is no whole number");
        }
    }

    private @Nullable Integer small(CSVRecord row, Map<String, Integer> header, CsvField field)
            throws RejectedRecordException {
        Long value = count(row, header, field);
        if (value == null) {
            return null;
        }
        if (value > Integer.MAX_VALUE) {
            throw new RejectedRecordException(field.fieldName() + ": " + value + " is out of range");
        }
        return value.intValue();
    }

    private List<Sample> step(CSVRecord row, Map<String, Integer> header, Place place) throws RejectedRecordException {
        Long length = nanos(row, header, CsvField.STEP_NANOS);
        Long start = nanos(row, header, CsvField.START_NANOS);
        Long end = nanos(row, header, CsvField.END_NANOS);
        if (end == null) {
            if (length == null) {
                throw new RejectedRecordException("the row has neither an end nor a length");
            }
            end = (start == null ? place.endNanos : start) + length;
        }
        if (start == null && length != null) {
            start = end - length;
        }
        if (start != null && start > end) {
            throw new RejectedRecordException("the step ends before it starts");
        }
        Long stepId = count(row, header, CsvField.STEP_ID);
        long id = stepId == null ? place.nextStepId : stepId;
        StepCompleted step = new StepCompleted(
                map.engineId(),
                0,
                id,
                start,
                null,
                null,
                end,
                null,
                text(row, header, CsvField.GRAPH_MODE),
                small(row, header, CsvField.PADDED_BATCH),
                count(row, header, CsvField.BATCH),
                count(row, header, CsvField.PREFILL),
                count(row, header, CsvField.RECOMPUTE),
                small(row, header, CsvField.RUNNING),
                small(row, header, CsvField.WAITING),
                count(row, header, CsvField.KV_USED_BLOCKS),
                count(row, header, CsvField.KV_TOTAL_BLOCKS),
                null,
                null,
                List.of(),
                SequenceRows.of(List.of()));
        place.endNanos = end;
        place.nextStepId = id + 1;
        return List.of(new Sample(end, step));
    }

    private List<Sample> readings(CSVRecord row, Map<String, Integer> header, String source, Place place)
            throws RejectedRecordException {
        Long time = nanos(row, header, CsvField.TIME);
        if (time == null) {
            throw new RejectedRecordException("the row has no time");
        }
        if (time < place.endNanos) {
            throw new RejectedRecordException("the time goes back: rows must be in order");
        }
        List<Sample> samples = new ArrayList<>();
        for (Map.Entry<CsvField, CsvMap.Source> entry : map.columns().entrySet()) {
            CsvField field = entry.getKey();
            BigDecimal value = field.metric() == null ? null : number(row, header, field);
            if (value == null || field.metric() == null) {
                continue;
            }
            if (field.kind() == CsvField.Kind.COUNT) {
                count(row, header, field);
            }
            double sample = entry.getValue().percent() ? value.movePointLeft(2).doubleValue() : value.doubleValue();
            if (field.kind() == CsvField.Kind.SHARE && sample > 1.5) {
                throw new RejectedRecordException(
                        "column " + entry.getValue().column() + ": a share of " + sample + "; is its unit percent?");
            }
            samples.add(new Sample(
                    time, new MetricSampled(source, field.metric(), "engine=\"" + map.engineId() + "\"", sample)));
        }
        place.endNanos = time;
        return samples;
    }
}
