/** Bound rules over milestones that come one after another: what a match needs to remember, and what becomes of it. */
@NullMarked
package io.tokenstair.rule.match;

import org.jspecify.annotations.NullMarked;
