/** Tests of matching one after another. */
@NullMarked
package io.tokenstair.rule.match;

import org.jspecify.annotations.NullMarked;
