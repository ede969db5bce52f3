/** Tests. */
@NullMarked
package io.tokenstair.collect.nsys;

import org.jspecify.annotations.NullMarked;
