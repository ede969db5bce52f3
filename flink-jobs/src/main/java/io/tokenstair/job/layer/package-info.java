/** Which layers of the input reported, and how much. */
@NullMarked
package io.tokenstair.job.layer;

import org.jspecify.annotations.NullMarked;
