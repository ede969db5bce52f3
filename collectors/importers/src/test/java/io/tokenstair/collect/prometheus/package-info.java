/** Tests. */
@NullMarked
package io.tokenstair.collect.prometheus;

import org.jspecify.annotations.NullMarked;
