/** Tests of the statistics. */
@NullMarked
package io.tokenstair.job.statistics;

import org.jspecify.annotations.NullMarked;
