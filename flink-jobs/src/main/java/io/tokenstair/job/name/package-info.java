/** Names of one request that several layers gave it, and which of them is its own. */
@NullMarked
package io.tokenstair.job.name;

import org.jspecify.annotations.NullMarked;
