/** What an engine lately went through: where a causal chain walks back to. */
@NullMarked
package io.tokenstair.job.history;

import org.jspecify.annotations.NullMarked;
