/** Tests of the engine's timeline. */
@NullMarked
package io.tokenstair.job.step;

import org.jspecify.annotations.NullMarked;
