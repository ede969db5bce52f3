@NullMarked
package io.tokenstair.rule.lint;

import org.jspecify.annotations.NullMarked;
