package io.tokenstair.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tokenstair.archive.result.LayerReport;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.event.Field;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class TableTest {
    private static final TableSchema<LayerReport> LAYERS = ResultTables.LAYER_REPORT;
    private static final LayerReport LAYER = new LayerReport("engine-0", "steps", true, 5, 0);

    @TempDir
    Path folder;

    static List<TableSchema<?>> tables() {
        return ResultTables.all();
    }

    /** A table as it was before it got its second column. */
    public record Older(
            @Field(2) String layer,
            @Field(3) boolean reported,
            @Field(4) int eventCount,
            @Field(5) long rejectedCount) {}

    /** A table of a later version. */
    public record Newer(
            @Field(1) @Nullable String engineId,
            @Field(2) String layer,
            @Field(99) List<String> notes,
            @Field(3) boolean reported,
            @Field(4) long eventCount,
            @Field(5) long rejectedCount,
            @Field(98) @Nullable Double ratio) {}

    /** A table that has another type in a column. */
    public record Other(
            @Field(2) long layer,
            @Field(3) boolean reported,
            @Field(4) long eventCount,
            @Field(5) long rejectedCount) {}

    /** A table without a column that must be there. */
    public record Partial(@Field(2) String layer) {}

    /** A table whose rows may lack what others need. */
    public record Sparse(
            @Field(2) @Nullable String layer,
            @Field(3) @Nullable Boolean reported,
            @Field(4) @Nullable Long eventCount,
            @Field(5) @Nullable Long rejectedCount) {}

    /** A number of every boxed and plain type. */
    public record Numbers(
            @Field(1) double ratio,
            @Field(2) @Nullable Double maybeRatio,
            @Field(3) @Nullable Boolean maybe,
            @Field(4) List<Long> hashes) {}

    @ParameterizedTest
    @MethodSource("tables")
    <R extends Record> void everyResultTableComesBackAsItWasWritten(TableSchema<R> schema) throws IOException {
        R known = ResultExamples.row(schema.recordType(), true);
        R unknown = ResultExamples.row(schema.recordType(), false);
        List<R> rows = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            rows.add(i % 3 == 0 ? unknown : known);
        }

        assertThat(read(schema, write(schema, rows))).containsExactlyElementsOf(rows);
    }

    @Test
    void unknownStaysApartFromZero() throws IOException {
        TableSchema<Numbers> schema = TableSchema.of("numbers", Numbers.class);
        List<Numbers> rows = List.of(
                new Numbers(0, 0.0, false, List.of()),
                new Numbers(-0.0, null, null, List.of(0L)),
                new Numbers(Double.NaN, Double.MIN_VALUE, true, List.of(Long.MIN_VALUE, Long.MAX_VALUE)));

        assertThat(read(schema, write(schema, rows))).containsExactlyElementsOf(rows);
    }

    @Test
    void largeTablesComeBack() throws IOException {
        TableSchema<TokenAnalysis> schema = ResultTables.TOKEN_ANALYSIS;
        TokenAnalysis row = ResultExamples.row(TokenAnalysis.class, true);
        int count = 20_000;
        Path file = folder.resolve("large.parquet");
        try (OutputStream out = Files.newOutputStream(file)) {
            TableWriter<TokenAnalysis> writer = TableWriter.open(schema, out);
            for (int i = 0; i < count; i++) {
                writer.write(row);
            }
            writer.finish();
        }

        int read = 0;
        try (TableReader<TokenAnalysis> reader = TableReader.open(schema, file)) {
            while (reader.hasNext()) {
                if (reader.next().equals(row)) {
                    read++;
                }
            }
        }
        assertThat(read).isEqualTo(count);
    }

    @Test
    void theSameRowsGiveTheSameBytes() throws IOException {
        assertThat(bytes(LAYERS, List.of(LAYER, LAYER))).isEqualTo(bytes(LAYERS, List.of(LAYER, LAYER)));
    }

    @Test
    void anEmptyTableHasNoRows() throws IOException {
        Path file = write(LAYERS, List.of());

        try (TableReader<LayerReport> reader = TableReader.open(LAYERS, file)) {
            assertThat(reader.hasNext()).isFalse();
            assertThatThrownBy(reader::next).isInstanceOf(NoSuchElementException.class);
        }
    }

    @Test
    void finishLeavesTheStreamOpen() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        boolean[] closed = new boolean[1];
        OutputStream out = new OutputStream() {
            @Override
            public void write(int b) {
                bytes.write(b);
            }

            @Override
            public void close() {
                closed[0] = true;
            }
        };
        TableWriter<LayerReport> writer = TableWriter.open(LAYERS, out);
        writer.write(LAYER);
        writer.finish();

        assertThat(closed[0]).isFalse();
        assertThat(bytes.size()).isPositive();
    }

    @Test
    void olderFilesLackColumnsThatMayBeAbsent() throws IOException {
        Path file = write(TableSchema.of("layer_report", Older.class), List.of(new Older("steps", true, 5, 0)));

        assertThat(read(LAYERS, file)).containsExactly(new LayerReport(null, "steps", true, 5, 0));
    }

    @Test
    void columnsOfLaterVersionsAreIgnored() throws IOException {
        Newer row = new Newer("engine-0", "steps", List.of("a", "b"), true, 5, 0, 0.5);

        assertThat(read(LAYERS, write(TableSchema.of("layer_report", Newer.class), List.of(row))))
                .containsExactly(LAYER);
    }

    @Test
    void listsThatAnOlderFileLacksAreEmpty() throws IOException {
        Path file = write(LAYERS, List.of(LAYER));

        assertThat(read(TableSchema.of("layer_report", Newer.class), file))
                .containsExactly(new Newer("engine-0", "steps", List.of(), true, 5, 0, null));
    }

    @Test
    void aMissingColumnIsNamedWithItsFile() throws IOException {
        Path file = write(TableSchema.of("layer_report", Partial.class), List.of(new Partial("steps")));

        assertThatThrownBy(() -> TableReader.open(LAYERS, file))
                .isInstanceOf(ArchiveException.class)
                .hasMessageContaining(file.toString())
                .hasMessageContaining("no column reported");
    }

    @Test
    void aColumnOfAnotherTypeIsNamedWithItsFile() throws IOException {
        Path file = write(TableSchema.of("layer_report", Other.class), List.of(new Other(1, true, 5, 0)));

        assertThatThrownBy(() -> TableReader.open(LAYERS, file))
                .isInstanceOf(ArchiveException.class)
                .hasMessageContaining(file.toString())
                .hasMessageContaining("column layer is required int64 layer = 2, expected VARCHAR");
    }

    @Test
    void aNullWhereEveryRowNeedsAValueIsNamed() throws IOException {
        Path file = write(TableSchema.of("layer_report", Sparse.class), List.of(new Sparse("steps", null, 1L, 0L)));

        try (TableReader<LayerReport> reader = TableReader.open(LAYERS, file)) {
            assertThatThrownBy(reader::hasNext)
                    .isInstanceOf(ArchiveException.class)
                    .hasMessageContaining("column reported is NULL");
        }
    }

    @Test
    void aTruncatedFileIsNamedAtEveryLength() throws IOException {
        byte[] whole = bytes(LAYERS, List.of(LAYER, LAYER));
        Path file = folder.resolve("cut.parquet");
        for (int length = 0; length < whole.length; length++) {
            Files.write(file, Arrays.copyOf(whole, length));

            assertThatThrownBy(() -> read(LAYERS, file))
                    .as("%d of %d bytes", length, whole.length)
                    .isInstanceOf(ArchiveException.class)
                    .hasMessageContaining(file.toString())
                    .hasMessageContaining("write it anew");
        }
    }

    @Test
    void aDamagedByteIsReportedOrHarmless() throws IOException {
        byte[] whole = bytes(LAYERS, List.of(LAYER, new LayerReport(null, "client", false, 0, 3)));
        Path file = folder.resolve("damaged.parquet");
        int refused = 0;
        for (int position = 0; position < whole.length; position++) {
            for (int mask : new int[] {0x01, 0xff}) {
                byte[] damaged = whole.clone();
                damaged[position] ^= (byte) mask;
                Files.write(file, damaged);
                try {
                    read(LAYERS, file);
                } catch (ArchiveException e) {
                    refused++;
                }
            }
        }
        assertThat(refused).isGreaterThan(whole.length);
    }

    @Test
    void aMissingFileIsNamed() {
        Path file = folder.resolve("none.parquet");

        assertThatThrownBy(() -> TableReader.open(LAYERS, file))
                .isInstanceOf(ArchiveException.class)
                .hasMessageContaining("Cannot open file " + file);
    }

    @Test
    void rowsWithoutARequiredValueAreRefused() throws IOException {
        TableWriter<LayerReport> writer = TableWriter.open(LAYERS, OutputStream.nullOutputStream());
        writer.write(ResultExamplesWithNull.layerWithoutName());

        assertThatThrownBy(writer::finish).hasMessageContaining("Cannot write a row without layer");
    }

    @Test
    void componentsWithoutAnIdOrOfAnUnknownTypeAreRefused() {
        assertThatThrownBy(() -> TableSchema.of("t", Unnumbered.class))
                .hasMessageContaining("Unnumbered.a: it has no field id");
        assertThatThrownBy(() -> TableSchema.of("t", OddType.class)).hasMessageContaining("OddType.a: no column holds");
        assertThatThrownBy(() -> TableSchema.of("t", Twice.class)).hasMessageContaining("field id 1 twice");
    }

    /** A component without an id. */
    public record Unnumbered(long a) {}

    /** A component that no column holds. */
    public record OddType(@Field(1) Object a) {}

    /** An id used twice. */
    public record Twice(@Field(1) long a, @Field(1) long b) {}

    /** A row that breaks its own contract. */
    private static final class ResultExamplesWithNull {
        @SuppressWarnings("NullAway")
        static LayerReport layerWithoutName() {
            return new LayerReport("engine-0", null, true, 1, 1);
        }
    }

    @Test
    void noHadoopIsNeeded() {
        assertThatThrownBy(() -> Class.forName("org.apache.hadoop.conf.Configuration"))
                .as("the tests run without Hadoop, so everything tested here does too")
                .isInstanceOf(ClassNotFoundException.class);
    }

    private <R extends Record> Path write(TableSchema<R> schema, List<R> rows) throws IOException {
        Path file = Files.createTempFile(folder, schema.table(), ".parquet");
        Files.write(file, bytes(schema, rows));
        return file;
    }

    private static <R extends Record> byte[] bytes(TableSchema<R> schema, List<R> rows) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        TableWriter<R> writer = TableWriter.open(schema, out);
        for (R row : rows) {
            writer.write(row);
        }
        writer.finish();
        return out.toByteArray();
    }

    private static <R extends Record> List<R> read(TableSchema<R> schema, Path file) throws IOException {
        List<R> rows = new ArrayList<>();
        try (TableReader<R> reader = TableReader.open(schema, file)) {
            reader.forEachRemaining(rows::add);
        }
        return rows;
    }
}
