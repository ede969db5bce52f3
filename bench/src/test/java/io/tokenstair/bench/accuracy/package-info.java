/** Tests that the published figures hold. */
@NullMarked
package io.tokenstair.bench.accuracy;

import org.jspecify.annotations.NullMarked;
