/** Tests of the vLLM collector. */
@NullMarked
package io.tokenstair.vllm;

import org.jspecify.annotations.NullMarked;
