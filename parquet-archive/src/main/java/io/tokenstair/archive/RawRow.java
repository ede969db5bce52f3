package io.tokenstair.archive;

/**
 * A row of a raw table as the bytes it came from.
 *
 * @param wireBytes a log record with the header and the fields that this table holds. Step records are spread over tables: their
 *     parts have the same header, and their bytes one after the other are a record that reads as the whole step
 * @param late true when the event came after its lateness bound
 */
@SuppressWarnings("ArrayRecordComponent") // a carrier: never compared
public record RawRow(byte[] wireBytes, boolean late) {}
