/** Tests of the records that say what a stall was. */
@NullMarked
package io.tokenstair.job.evidence;

import org.jspecify.annotations.NullMarked;
