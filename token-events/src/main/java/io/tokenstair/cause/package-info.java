/** The closed lists of causes, parts, states and severities, one meaning each. */
@NullMarked
package io.tokenstair.cause;

import org.jspecify.annotations.NullMarked;
