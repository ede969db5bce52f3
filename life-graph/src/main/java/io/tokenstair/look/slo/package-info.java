/** Limits that the reader sets for first tokens and gaps, and what is beyond them. */
@NullMarked
package io.tokenstair.look.slo;

import org.jspecify.annotations.NullMarked;
