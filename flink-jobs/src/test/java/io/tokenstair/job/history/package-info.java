/** Tests of the history of an engine. */
@NullMarked
package io.tokenstair.job.history;

import org.jspecify.annotations.NullMarked;
