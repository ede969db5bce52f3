/** The protobuf wire form: one record per engine step, permanent field numbers. */
@NullMarked
package io.tokenstair.event.wire;

import org.jspecify.annotations.NullMarked;
