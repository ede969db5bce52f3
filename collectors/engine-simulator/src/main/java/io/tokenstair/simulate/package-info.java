/** An inference engine that does not exist, simulated event by event, and the truth about each of its tokens. */
@NullMarked
package io.tokenstair.simulate;

import org.jspecify.annotations.NullMarked;
