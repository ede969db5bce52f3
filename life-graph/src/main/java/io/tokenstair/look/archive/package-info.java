/** Reads the result tables of an archive with DuckDB, a row at a time, and what their columns hold as text. */
@NullMarked
package io.tokenstair.look.archive;

import org.jspecify.annotations.NullMarked;
