/** Syntax to bound rule: names looked up, types and units checked; and the meaning of a bound rule in plain Java. */
@NullMarked
package io.tokenstair.rule.bound;

import org.jspecify.annotations.NullMarked;
