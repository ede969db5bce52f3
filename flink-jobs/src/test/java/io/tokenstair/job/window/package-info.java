/** Tests of the last values of a series. */
@NullMarked
package io.tokenstair.job.window;

import org.jspecify.annotations.NullMarked;
