/** Names that layers give one request: what joins them, and who may know. */
@NullMarked
package io.tokenstair.job.name;

import org.jspecify.annotations.NullMarked;
