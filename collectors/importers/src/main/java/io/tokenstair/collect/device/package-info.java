/** What the traces of GPU profilers have in common: calls, what they launched, waits, memory, steps, and what is said of a file. */
@NullMarked
package io.tokenstair.collect.device;

import org.jspecify.annotations.NullMarked;
