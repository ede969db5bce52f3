@NullMarked
package io.tokenstair.look.otlp;

import org.jspecify.annotations.NullMarked;
