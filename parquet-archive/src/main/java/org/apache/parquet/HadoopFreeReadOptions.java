package org.apache.parquet;

import java.util.Map;
import org.apache.parquet.bytes.HeapByteBufferAllocator;
import org.apache.parquet.compression.CompressionCodecFactory;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.filter2.compat.FilterCompat;
import org.apache.parquet.format.converter.ParquetMetadataConverter;

/**
 * Read options made without their builder, whose constructor links Hadoop classes. In Parquet's package because the constructor
 * that takes everything is package-private.
 */
public final class HadoopFreeReadOptions {
    private static final int MAX_ALLOCATION_BYTES = 8 << 20;

    private HadoopFreeReadOptions() {}

    /** Options that read every row, verify page checksums and decompress with {@code codecs}. */
    @SuppressWarnings("NullAway") // no decryption and no metrics: Parquet takes null for both
    public static ParquetReadOptions of(CompressionCodecFactory codecs) {
        boolean signedStringStatistics = true;
        boolean statisticsFilter = true;
        boolean dictionaryFilter = true;
        boolean recordFilter = true;
        boolean columnIndexFilter = false;
        boolean pageChecksum = true;
        boolean bloomFilter = false;
        boolean offHeapDecryption = false;
        boolean vectoredRead = false;
        return new ParquetReadOptions(
                signedStringStatistics,
                statisticsFilter,
                dictionaryFilter,
                recordFilter,
                columnIndexFilter,
                pageChecksum,
                bloomFilter,
                offHeapDecryption,
                vectoredRead,
                FilterCompat.NOOP,
                ParquetMetadataConverter.NO_FILTER,
                codecs,
                new HeapByteBufferAllocator(),
                MAX_ALLOCATION_BYTES,
                Map.of(),
                null,
                null,
                new PlainParquetConfiguration());
    }
}
