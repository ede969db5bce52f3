/** Tests of what is said of layers. */
@NullMarked
package io.tokenstair.job.layer;

import org.jspecify.annotations.NullMarked;
