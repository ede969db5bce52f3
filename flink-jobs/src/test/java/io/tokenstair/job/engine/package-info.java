/** Tests of what is concluded of an engine as a whole. */
@NullMarked
package io.tokenstair.job.engine;

import org.jspecify.annotations.NullMarked;
