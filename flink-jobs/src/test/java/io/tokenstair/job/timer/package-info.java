/** Tests of when operators wake. */
@NullMarked
package io.tokenstair.job.timer;

import org.jspecify.annotations.NullMarked;
