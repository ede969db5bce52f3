package io.tokenstair.archive;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.apache.parquet.VersionParser.ParsedVersion;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.ColumnReader;
import org.apache.parquet.column.impl.ColumnReaderImpl;
import org.apache.parquet.column.page.PageReadStore;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.io.api.PrimitiveConverter;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;
import org.jspecify.annotations.Nullable;

/** The values of one column, one call per row. A column that the file lacks is NULL in every row, a list is empty. */
final class ColumnCursor {
    private final String file;
    private final Column column;
    private final int listDefinition;
    private @Nullable ColumnReader reader;
    private int maxDefinition;
    private boolean narrow;
    private @Nullable Binary lastBinary;
    private String lastString = "";

    /** {@code listDefinition} is the definition level of a list element. */
    ColumnCursor(String file, Column column, int listDefinition) {
        this.file = file;
        this.column = column;
        this.listDefinition = listDefinition;
    }

    @SuppressWarnings("NullAway") // Parquet takes null for a writer whose version is not known
    void start(ColumnDescriptor leaf, PageReadStore group, @Nullable ParsedVersion version) {
        reader = new ColumnReaderImpl(leaf, group.getPageReader(leaf), new PrimitiveConverter() {}, version);
        maxDefinition = leaf.getMaxDefinitionLevel();
        narrow = leaf.getPrimitiveType().getPrimitiveTypeName() == PrimitiveTypeName.INT32;
        lastBinary = null;
    }

    /** The value of this row; null where it is unknown. */
    @Nullable
    Object take() {
        if (column.type().isList()) {
            return takeList();
        }
        if (isNull()) {
            if (column.optional()) {
                return null;
            }
            throw missing();
        }
        return switch (column.type()) {
            case INT64 -> takeLong();
            case INT32 -> takeInt();
            case DOUBLE -> {
                double value = present().getDouble();
                present().consume();
                yield value;
            }
            case BOOLEAN -> takeBoolean();
            default -> takeString();
        };
    }

    /** The whole number of this row, or {@code absent}. */
    int takeInt(int absent) {
        return isNull() ? absent : takeInt();
    }

    /** The whole number of this row, or {@code absent}. */
    long takeLong(long absent) {
        return isNull() ? absent : takeLong();
    }

    int takeInt() {
        ColumnReader values = presentValue();
        int value = values.getInteger();
        values.consume();
        return value;
    }

    long takeLong() {
        ColumnReader values = presentValue();
        long value = narrow ? values.getInteger() : values.getLong();
        values.consume();
        return value;
    }

    boolean takeBoolean() {
        ColumnReader values = presentValue();
        boolean value = values.getBoolean();
        values.consume();
        return value;
    }

    String takeString() {
        ColumnReader values = presentValue();
        String value = string(values.getBinary());
        values.consume();
        return value;
    }

    private List<Object> takeList() {
        if (reader == null) {
            return List.of();
        }
        ColumnReader values = reader;
        if (values.getCurrentDefinitionLevel() < listDefinition) {
            values.consume();
            return List.of();
        }
        List<Object> list = new ArrayList<>();
        do {
            if (values.getCurrentDefinitionLevel() < maxDefinition) {
                throw missing();
            }
            if (column.type() == ColumnType.STRING_LIST) {
                list.add(string(values.getBinary()));
            } else {
                list.add(narrow ? (long) values.getInteger() : values.getLong());
            }
            values.consume();
        } while (values.getCurrentRepetitionLevel() > 0);
        return List.copyOf(list);
    }

    private boolean isNull() {
        if (reader == null) {
            return true;
        }
        if (reader.getCurrentDefinitionLevel() < maxDefinition) {
            reader.consume();
            return true;
        }
        return false;
    }

    private ColumnReader presentValue() {
        ColumnReader values = present();
        if (values.getCurrentDefinitionLevel() < maxDefinition) {
            throw missing();
        }
        return values;
    }

    private ColumnReader present() {
        return Objects.requireNonNull(reader);
    }

    private ArchiveException missing() {
        return new ArchiveException(
                "Cannot read file " + file + ": column " + column.name()
                        + " is NULL in a row, and every row must have it. Move the file out of the archive, or write the archive anew.");
    }

    /** Dictionary pages give the same object for the same value: decoded once. */
    private String string(Binary binary) {
        if (binary != lastBinary) {
            lastString = binary.toStringUsingUTF8();
            lastBinary = binary;
        }
        return lastString;
    }
}
