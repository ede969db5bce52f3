/** When an operator wakes for a key. */
@NullMarked
package io.tokenstair.job.timer;

import org.jspecify.annotations.NullMarked;
