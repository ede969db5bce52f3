/** Events to a log: sequence numbers per collector, and all collectors in one order. */
@NullMarked
package io.tokenstair.collect.output;

import org.jspecify.annotations.NullMarked;
