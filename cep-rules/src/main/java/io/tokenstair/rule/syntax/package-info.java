/** Text to syntax: what a rule file says, names still strings, every word with its place. */
@NullMarked
package io.tokenstair.rule.syntax;

import org.jspecify.annotations.NullMarked;
