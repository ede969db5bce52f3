/** Tests of the wire form. */
@NullMarked
package io.tokenstair.event.wire;

import org.jspecify.annotations.NullMarked;
