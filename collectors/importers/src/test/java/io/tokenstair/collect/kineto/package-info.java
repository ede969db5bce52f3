/** Tests. */
@NullMarked
package io.tokenstair.collect.kineto;

import org.jspecify.annotations.NullMarked;
