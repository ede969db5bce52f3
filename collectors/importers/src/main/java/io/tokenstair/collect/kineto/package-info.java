/** Traces of the PyTorch profiler (Kineto), as export_chrome_trace writes them. */
@NullMarked
package io.tokenstair.collect.kineto;

import org.jspecify.annotations.NullMarked;
