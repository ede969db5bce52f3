/** The job on recorded runs of a real vLLM, against what is true in them. */
@NullMarked
package io.tokenstair.job.capture;

import org.jspecify.annotations.NullMarked;
