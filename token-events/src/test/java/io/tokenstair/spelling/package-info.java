/** Tests. */
@NullMarked
package io.tokenstair.spelling;

import org.jspecify.annotations.NullMarked;
