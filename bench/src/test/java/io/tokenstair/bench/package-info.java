/** The benchmark runs. */
@NullMarked
package io.tokenstair.bench;

import org.jspecify.annotations.NullMarked;
