/** llama.cpp's server: its log, its slots, its metrics. */
@NullMarked
package io.tokenstair.collect.engine.llamacpp;

import org.jspecify.annotations.NullMarked;
