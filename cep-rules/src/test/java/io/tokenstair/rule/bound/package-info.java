/** Tests of the package bound. */
@NullMarked
package io.tokenstair.rule.bound;

import org.jspecify.annotations.NullMarked;
