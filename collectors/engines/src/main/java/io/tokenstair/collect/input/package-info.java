/** Raw input of a capture: files, lines and fields, bounded, with the place and reason of what is refused. */
@NullMarked
package io.tokenstair.collect.input;

import org.jspecify.annotations.NullMarked;
