/** Tests of the last values of a series. */
@NullMarked
package io.tokenstair.job.type;

import org.jspecify.annotations.NullMarked;
