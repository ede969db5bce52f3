/** The embedded log: a folder of segments with checked frames. */
@NullMarked
package io.tokenstair.log;

import org.jspecify.annotations.NullMarked;
