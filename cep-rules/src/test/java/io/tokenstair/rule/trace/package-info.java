/** Tests of how far a rule got. */
@NullMarked
package io.tokenstair.rule.trace;

import org.jspecify.annotations.NullMarked;
