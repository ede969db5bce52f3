/** What a running job tells of itself, as Prometheus reads it. */
@NullMarked
package io.tokenstair.job.health;

import org.jspecify.annotations.NullMarked;
