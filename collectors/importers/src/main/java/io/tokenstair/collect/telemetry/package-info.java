/** Files of OTLP export requests to events. */
@NullMarked
package io.tokenstair.collect.telemetry;

import org.jspecify.annotations.NullMarked;
