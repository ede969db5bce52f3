/** Real engines, started here, observed and explained. */
@NullMarked
package io.tokenstair.live;

import org.jspecify.annotations.NullMarked;
