/** Scrapes in the Prometheus text format to samples. */
@NullMarked
package io.tokenstair.collect.prometheus;

import org.jspecify.annotations.NullMarked;
