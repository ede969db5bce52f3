@NullMarked
package io.tokenstair.collect.otlp;

import org.jspecify.annotations.NullMarked;
