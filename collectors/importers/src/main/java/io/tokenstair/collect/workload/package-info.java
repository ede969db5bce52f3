/** Recorded workloads: what was asked for and when, and nothing of how long it took. */
@NullMarked
package io.tokenstair.collect.workload;

import org.jspecify.annotations.NullMarked;
