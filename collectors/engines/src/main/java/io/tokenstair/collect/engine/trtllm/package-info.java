/** TensorRT-LLM and Triton: iterations, traces, metrics. */
@NullMarked
package io.tokenstair.collect.engine.trtllm;

import org.jspecify.annotations.NullMarked;
