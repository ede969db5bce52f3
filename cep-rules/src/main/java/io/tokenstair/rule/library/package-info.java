/** The rules that come with Tokenstair. */
@NullMarked
package io.tokenstair.rule.library;

import org.jspecify.annotations.NullMarked;
