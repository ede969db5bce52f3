package io.tokenstair.collect.importer;

import java.util.List;

/**
 * What an import read: {@code read} = {@code accepted} + {@code rejected}, and the same per layer.
 *
 * @param read raw records in all
 * @param accepted those that were taken
 * @param rejected those that were refused
 * @param layers the same per layer, over all captures of the import
 */
public record ImportSummary(long read, long accepted, long rejected, List<LayerCount> layers) {
    /** Copies the layers. */
    public ImportSummary {
        layers = List.copyOf(layers);
    }

    /** The sums over the layers. */
    public static ImportSummary of(List<LayerCount> layers) {
        long read = 0;
        long accepted = 0;
        long rejected = 0;
        for (LayerCount layer : layers) {
            read += layer.read();
            accepted += layer.accepted();
            rejected += layer.rejected();
        }
        return new ImportSummary(read, accepted, rejected, layers);
    }

    /** The last line an import prints. */
    public String line() {
        return "read " + read + ", accepted " + accepted + ", rejected " + rejected;
    }
}
