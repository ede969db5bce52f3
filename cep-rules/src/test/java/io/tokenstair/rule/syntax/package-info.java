/** Tests of the package syntax. */
@NullMarked
package io.tokenstair.rule.syntax;

import org.jspecify.annotations.NullMarked;
