/** Exports of AIPerf. */
@NullMarked
package io.tokenstair.collect.aiperf;

import org.jspecify.annotations.NullMarked;
