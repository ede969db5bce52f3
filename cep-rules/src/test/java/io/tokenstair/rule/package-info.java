/** Tests of the rule language as a whole. */
@NullMarked
package io.tokenstair.rule;

import org.jspecify.annotations.NullMarked;
