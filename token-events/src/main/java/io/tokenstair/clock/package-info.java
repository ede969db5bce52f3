/** Clocks: stamps that cannot be mixed, the way from one clock to another, and the only place where a clock is read. */
@NullMarked
package io.tokenstair.clock;

import org.jspecify.annotations.NullMarked;
