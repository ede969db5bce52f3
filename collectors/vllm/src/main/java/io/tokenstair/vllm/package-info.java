/** A running vLLM to events: what its probe sends, its KV events, its metrics and the host it runs on. */
@NullMarked
package io.tokenstair.vllm;

import org.jspecify.annotations.NullMarked;
