/** Tables that people have as CSV files, by a map of their columns. */
@NullMarked
package io.tokenstair.collect.table;

import org.jspecify.annotations.NullMarked;
