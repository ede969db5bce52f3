@NullMarked
package io.tokenstair.collect.otlp.receive;

import org.jspecify.annotations.NullMarked;
