/** Reads the result tables of an archive with DuckDB, a row at a time. */
@NullMarked
package io.tokenstair.look.archive;

import org.jspecify.annotations.NullMarked;
