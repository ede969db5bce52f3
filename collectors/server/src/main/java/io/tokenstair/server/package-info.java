/** What the servers of collectors share. */
@NullMarked
package io.tokenstair.server;

import org.jspecify.annotations.NullMarked;
