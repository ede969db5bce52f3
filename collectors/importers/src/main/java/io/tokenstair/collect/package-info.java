/** The command that imports files people already have: one format a package. */
@NullMarked
package io.tokenstair.collect;

import org.jspecify.annotations.NullMarked;
