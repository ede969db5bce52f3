/** Formats that engines publish, read in one place for all collectors. */
@NullMarked
package io.tokenstair.foreign;

import org.jspecify.annotations.NullMarked;
