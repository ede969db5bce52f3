/** Tests of the simulated engine. */
@NullMarked
package io.tokenstair.simulate;

import org.jspecify.annotations.NullMarked;
