/** KV block events of engines, as they came over ZMQ. */
@NullMarked
package io.tokenstair.collect.kv;

import org.jspecify.annotations.NullMarked;
