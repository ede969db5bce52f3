/** Where the graph ends: the Parquet archive, raw tables and results. */
@NullMarked
package io.tokenstair.job.sink;

import org.jspecify.annotations.NullMarked;
