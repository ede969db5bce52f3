/** Tests of the live collectors of engines, over real sockets and files. */
@NullMarked
package io.tokenstair.collect.engine;

import org.jspecify.annotations.NullMarked;
