/** Exports of Nsight Systems as SQLite databases. */
@NullMarked
package io.tokenstair.collect.nsys;

import org.jspecify.annotations.NullMarked;
