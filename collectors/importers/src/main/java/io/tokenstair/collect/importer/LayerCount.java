package io.tokenstair.collect.importer;

/**
 * What came of one layer: {@code read} = {@code accepted} + {@code rejected}.
 *
 * @param layer the layer
 * @param read raw records: JSON lines, OTLP requests, metric samples
 * @param accepted those that were taken
 * @param rejected those that were refused, each with an event Rejected
 * @param missing true when no file of the layer is there
 */
public record LayerCount(String layer, long read, long accepted, long rejected, boolean missing) {
    /** The counts of both. */
    public LayerCount plus(LayerCount other) {
        return new LayerCount(
                layer,
                read + other.read,
                accepted + other.accepted,
                rejected + other.rejected,
                missing && other.missing);
    }
}
