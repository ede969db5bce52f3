/** The command {@code tokenstair collect}: live collectors, their options, and their way to the log. */
@NullMarked
package io.tokenstair.collector;

import org.jspecify.annotations.NullMarked;
