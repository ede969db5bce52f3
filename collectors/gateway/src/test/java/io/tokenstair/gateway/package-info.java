/** A streaming reverse proxy that stamps every chunk and never records text. */
@NullMarked
package io.tokenstair.gateway;

import org.jspecify.annotations.NullMarked;
