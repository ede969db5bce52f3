/** The server of the life graph page and its JSON answers. */
@NullMarked
package io.tokenstair.look.page;

import org.jspecify.annotations.NullMarked;
