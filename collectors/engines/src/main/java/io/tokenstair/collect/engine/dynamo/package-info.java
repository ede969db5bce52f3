/** NVIDIA Dynamo: forward passes, request traces, KV events. */
@NullMarked
package io.tokenstair.collect.engine.dynamo;

import org.jspecify.annotations.NullMarked;
