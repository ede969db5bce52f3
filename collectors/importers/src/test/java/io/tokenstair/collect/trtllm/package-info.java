/** Tests of files of TensorRT-LLM and Triton. */
@NullMarked
package io.tokenstair.collect.trtllm;

import org.jspecify.annotations.NullMarked;
