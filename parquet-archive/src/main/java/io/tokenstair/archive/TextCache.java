package io.tokenstair.archive;

import org.apache.parquet.io.api.Binary;

/** The text written last, encoded: neighbouring events mostly share their ids. */
final class TextCache {
    private String last = "";
    private Binary lastBinary = Binary.EMPTY;

    Binary binary(String text) {
        if (!text.equals(last)) {
            last = text;
            lastBinary = RecordColumns.binary(text);
        }
        return lastBinary;
    }
}
