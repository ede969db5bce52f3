/** What is wrong with rules that can be read: what can never match, and what does not mean what it seems to. */
@NullMarked
package io.tokenstair.rule.lint;

import org.jspecify.annotations.NullMarked;
