/** Tests. */
@NullMarked
package io.tokenstair.narrative;

import org.jspecify.annotations.NullMarked;
