/** The rule language: what is wrong with a rule, and where. */
@NullMarked
package io.tokenstair.rule;

import org.jspecify.annotations.NullMarked;
