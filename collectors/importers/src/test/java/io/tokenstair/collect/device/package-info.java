/** Tests. */
@NullMarked
package io.tokenstair.collect.device;

import org.jspecify.annotations.NullMarked;
