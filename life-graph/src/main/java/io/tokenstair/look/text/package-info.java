/** What the commands print for people at a terminal. */
@NullMarked
package io.tokenstair.look.text;

import org.jspecify.annotations.NullMarked;
