/** The live receiver of OTLP: gRPC and HTTP on loopback, bounded in bytes, time and connections, to the log. */
@NullMarked
package io.tokenstair.collect.otlp.receive;

import org.jspecify.annotations.NullMarked;
