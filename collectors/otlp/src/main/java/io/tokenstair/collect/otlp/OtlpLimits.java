package io.tokenstair.collect.otlp;

/**
 * What one export request may hold: whatever is larger is refused before it takes memory.
 *
 * @param requestBytes most bytes of a request, after it was unzipped
 * @param messages most messages inside of it, of any kind and depth: an empty one takes two bytes on the wire and a hundred in memory
 */
public record OtlpLimits(int requestBytes, int messages) {
    /** 16 MiB, and half a million messages: under 100 MB in memory. */
    public static final OtlpLimits DEFAULT = new OtlpLimits(16 << 20, 500_000);
}
