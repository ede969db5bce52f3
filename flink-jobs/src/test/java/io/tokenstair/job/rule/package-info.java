/** Tests of matching. */
@NullMarked
package io.tokenstair.job.rule;

import org.jspecify.annotations.NullMarked;
