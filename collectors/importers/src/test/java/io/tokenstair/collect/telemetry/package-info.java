@NullMarked
package io.tokenstair.collect.telemetry;

import org.jspecify.annotations.NullMarked;
