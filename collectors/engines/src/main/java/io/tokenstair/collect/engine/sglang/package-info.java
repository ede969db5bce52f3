/** SGLang: forward passes, KV events, metrics. */
@NullMarked
package io.tokenstair.collect.engine.sglang;

import org.jspecify.annotations.NullMarked;
