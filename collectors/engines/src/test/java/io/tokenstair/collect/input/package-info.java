/** Tests of how inputs are read. */
@NullMarked
package io.tokenstair.collect.input;

import org.jspecify.annotations.NullMarked;
