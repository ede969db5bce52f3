@NullMarked
package io.tokenstair.look.metrics;

import org.jspecify.annotations.NullMarked;
