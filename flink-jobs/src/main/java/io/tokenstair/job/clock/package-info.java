/** Clocks: how segments are fitted inside the job, and how every operator that aligns stamps hears of them. */
@NullMarked
package io.tokenstair.job.clock;

import org.jspecify.annotations.NullMarked;
