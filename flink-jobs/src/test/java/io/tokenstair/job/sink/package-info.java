/** Tests of the archive's sinks together with its source. */
@NullMarked
package io.tokenstair.job.sink;

import org.jspecify.annotations.NullMarked;
