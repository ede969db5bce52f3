/** Tests of the archive: written files are read back here and by DuckDB. */
@NullMarked
package io.tokenstair.archive;

import org.jspecify.annotations.NullMarked;
