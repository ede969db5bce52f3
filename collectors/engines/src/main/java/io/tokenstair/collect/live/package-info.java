/** What live collectors of engines share: sockets, scrapes, files that grow, and KV events. */
@NullMarked
package io.tokenstair.collect.live;

import org.jspecify.annotations.NullMarked;
