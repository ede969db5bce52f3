/** Tests of the clocks. */
@NullMarked
package io.tokenstair.clock;

import org.jspecify.annotations.NullMarked;
