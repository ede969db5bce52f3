/** What an archive says, as metrics for Prometheus. */
@NullMarked
package io.tokenstair.look.metrics;

import org.jspecify.annotations.NullMarked;
