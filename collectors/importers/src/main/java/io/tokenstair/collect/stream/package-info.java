/** Answers as streaming clients recorded them, chunk by chunk, whatever engine sent them. */
@NullMarked
package io.tokenstair.collect.stream;

import org.jspecify.annotations.NullMarked;
