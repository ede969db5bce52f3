/** Records that say what a stall was: compiles, allocations, pauses, waits, kernels, clocks, transfers; and what they cover of a step. */
@NullMarked
package io.tokenstair.job.evidence;

import org.jspecify.annotations.NullMarked;
