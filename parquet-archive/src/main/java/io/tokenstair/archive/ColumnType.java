package io.tokenstair.archive;

import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;
import org.apache.parquet.schema.Type;
import org.apache.parquet.schema.Type.Repetition;
import org.apache.parquet.schema.Types;

/** The types a column of the archive can have. */
public enum ColumnType {
    /** A whole number of 64 bits. */
    INT64("BIGINT", PrimitiveTypeName.INT64, false),
    /** A whole number of 32 bits. */
    INT32("INTEGER", PrimitiveTypeName.INT32, false),
    /** A floating-point number of 64 bits. */
    DOUBLE("DOUBLE", PrimitiveTypeName.DOUBLE, false),
    /** True or false. */
    BOOLEAN("BOOLEAN", PrimitiveTypeName.BOOLEAN, false),
    /** Text in UTF-8. */
    STRING("VARCHAR", PrimitiveTypeName.BINARY, false),
    /** A list of texts, empty where there is none. */
    STRING_LIST("VARCHAR[]", PrimitiveTypeName.BINARY, true),
    /** A list of whole numbers of 64 bits, empty where there is none. */
    INT64_LIST("BIGINT[]", PrimitiveTypeName.INT64, true);

    private final String sqlName;
    private final PrimitiveTypeName primitive;
    private final boolean list;

    ColumnType(String sqlName, PrimitiveTypeName primitive, boolean list) {
        this.sqlName = sqlName;
        this.primitive = primitive;
        this.list = list;
    }

    /** The name of the type in SQL. */
    public String sqlName() {
        return sqlName;
    }

    PrimitiveTypeName primitive() {
        return primitive;
    }

    boolean isList() {
        return list;
    }

    /** The Parquet field: lists in the standard form of three levels. */
    Type field(String name, int id, boolean optional) {
        Repetition repetition = optional ? Repetition.OPTIONAL : Repetition.REQUIRED;
        if (!list) {
            return primitive(repetition).id(id).named(name);
        }
        Type element = primitive(Repetition.REQUIRED).named("element");
        return Types.list(repetition).element(element).id(id).named(name);
    }

    private Types.PrimitiveBuilder<org.apache.parquet.schema.PrimitiveType> primitive(Repetition repetition) {
        var builder = Types.primitive(primitive, repetition);
        return primitive == PrimitiveTypeName.BINARY ? builder.as(LogicalTypeAnnotation.stringType()) : builder;
    }
}
