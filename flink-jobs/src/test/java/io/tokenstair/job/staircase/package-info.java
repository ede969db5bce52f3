/** Tests of the staircase detector, on series whose truth is known. */
@NullMarked
package io.tokenstair.job.staircase;

import org.jspecify.annotations.NullMarked;
