/** vLLM captures to events: one class per layer of a capture folder. */
@NullMarked
package io.tokenstair.collect.vllm;

import org.jspecify.annotations.NullMarked;
