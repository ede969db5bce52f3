/** What TensorRT-LLM says of its iterations. */
@NullMarked
package io.tokenstair.collect.trtllm;

import org.jspecify.annotations.NullMarked;
