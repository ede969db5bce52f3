/** Tests of the clocks inside the job. */
@NullMarked
package io.tokenstair.job.clock;

import org.jspecify.annotations.NullMarked;
