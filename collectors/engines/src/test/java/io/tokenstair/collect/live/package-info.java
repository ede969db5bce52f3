/** Tests of what live collectors share. */
@NullMarked
package io.tokenstair.collect.live;

import org.jspecify.annotations.NullMarked;
