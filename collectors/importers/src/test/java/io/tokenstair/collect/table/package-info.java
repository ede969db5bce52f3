/** Tests. */
@NullMarked
package io.tokenstair.collect.table;

import org.jspecify.annotations.NullMarked;
