/**
 * The Parquet archive: {@link io.tokenstair.archive.ArchiveLayout} says where files lie, {@link io.tokenstair.archive.RawTables}
 * and {@link io.tokenstair.archive.ResultTables} which tables there are, the table readers and writers turn rows into files and
 * back. Everything that touches Parquet itself is package-private here. What columns mean: docs/archive.md.
 */
@NullMarked
package io.tokenstair.archive;

import org.jspecify.annotations.NullMarked;
