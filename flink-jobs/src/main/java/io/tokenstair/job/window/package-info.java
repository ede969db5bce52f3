/** The last values of a series, in order. */
@NullMarked
package io.tokenstair.job.window;

import org.jspecify.annotations.NullMarked;
