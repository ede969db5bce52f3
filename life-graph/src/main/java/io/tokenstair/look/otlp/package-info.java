/** What an archive says, as OpenTelemetry traces in the names of the GenAI conventions. */
@NullMarked
package io.tokenstair.look.otlp;

import org.jspecify.annotations.NullMarked;
