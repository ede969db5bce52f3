/** How far a rule got over milestones, and why it did not get further. */
@NullMarked
package io.tokenstair.rule.trace;

import org.jspecify.annotations.NullMarked;
