package io.tokenstair.archive;

import com.github.luben.zstd.Zstd;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.parquet.bytes.BytesInput;
import org.apache.parquet.compression.CompressionCodecFactory;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.xerial.snappy.Snappy;

/** Page compression without Hadoop: writes zstd, reads zstd, snappy (other tools' default) and plain pages. */
final class PageCompression implements CompressionCodecFactory {
    /** Higher levels cost time and save nothing on these columns. */
    private static final int ZSTD_LEVEL = 1;

    /** A page claims its size before it is read: more than this is refused, not allocated. */
    private static final int MAX_PAGE_BYTES = 512 << 20;

    @Override
    public BytesInputCompressor getCompressor(CompressionCodecName codec) {
        if (codec != CompressionCodecName.ZSTD) {
            throw new IllegalArgumentException("Cannot compress with codec: " + codec);
        }
        return new BytesInputCompressor() {
            @Override
            public BytesInput compress(BytesInput bytes) throws IOException {
                return BytesInput.from(Zstd.compress(bytes.toByteArray(), ZSTD_LEVEL));
            }

            @Override
            public CompressionCodecName getCodecName() {
                return CompressionCodecName.ZSTD;
            }

            @Override
            public void release() {}
        };
    }

    @Override
    public BytesInputDecompressor getDecompressor(CompressionCodecName codec) {
        return new BytesInputDecompressor() {
            @Override
            public BytesInput decompress(BytesInput bytes, int decompressedBytes) throws IOException {
                return codec == CompressionCodecName.UNCOMPRESSED
                        ? bytes
                        : BytesInput.from(expand(bytes.toByteArray(), decompressedBytes));
            }

            @Override
            public void decompress(ByteBuffer input, int compressedBytes, ByteBuffer output, int decompressedBytes)
                    throws IOException {
                byte[] compressed = new byte[compressedBytes];
                input.get(compressed);
                output.put(
                        codec == CompressionCodecName.UNCOMPRESSED
                                ? compressed
                                : expand(compressed, decompressedBytes));
            }

            private byte[] expand(byte[] compressed, int decompressedBytes) throws IOException {
                if (decompressedBytes < 0 || decompressedBytes > MAX_PAGE_BYTES) {
                    throw new IOException("a page claims " + decompressedBytes + " bytes");
                }
                byte[] bytes;
                if (codec == CompressionCodecName.ZSTD) {
                    bytes = Zstd.decompress(compressed, decompressedBytes);
                } else if (codec == CompressionCodecName.SNAPPY) {
                    if (Snappy.uncompressedLength(compressed) != decompressedBytes) {
                        throw new IOException("a page has another length than its header says");
                    }
                    bytes = Snappy.uncompress(compressed);
                } else {
                    throw new IOException("pages are compressed with " + codec
                            + ", and only ZSTD, SNAPPY and UNCOMPRESSED are read here");
                }
                if (bytes.length != decompressedBytes) {
                    throw new IOException("a page has another length than its header says");
                }
                return bytes;
            }

            @Override
            public void release() {}
        };
    }

    @Override
    public void release() {}
}
