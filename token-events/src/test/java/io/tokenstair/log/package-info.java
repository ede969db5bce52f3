/** Tests of the folder log. */
@NullMarked
package io.tokenstair.log;

import org.jspecify.annotations.NullMarked;
