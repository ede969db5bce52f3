/** OpenTelemetry export requests, in protobuf or JSON, to events: one decoder for files and for what comes over the network. */
@NullMarked
package io.tokenstair.collect.otlp;

import org.jspecify.annotations.NullMarked;
