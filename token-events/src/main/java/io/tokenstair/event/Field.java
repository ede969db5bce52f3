package io.tokenstair.event;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The permanent number of a record component: the protobuf field number of an event and, for every table of the archive, the
 * Parquet field id. Never reused, never changed.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface Field {
    /** The number, from 1. */
    int value();
}
