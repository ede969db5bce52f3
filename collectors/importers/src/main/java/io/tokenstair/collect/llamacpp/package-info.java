/** What llama.cpp's server prints. */
@NullMarked
package io.tokenstair.collect.llamacpp;

import org.jspecify.annotations.NullMarked;
