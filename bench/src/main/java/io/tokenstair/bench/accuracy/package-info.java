/** How right the analysis is, on made-up inputs whose truth is known. Every figure of docs/accuracy.md is printed from here. */
@NullMarked
package io.tokenstair.bench.accuracy;

import org.jspecify.annotations.NullMarked;
