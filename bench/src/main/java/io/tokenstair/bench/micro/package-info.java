/** How fast single functions of the hot path are, under JMH. */
@NullMarked
package io.tokenstair.bench.micro;

import org.jspecify.annotations.NullMarked;
