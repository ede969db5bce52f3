/** The sentences that a finding is told in: one set of templates, in every language. */
@NullMarked
package io.tokenstair.narrative;

import org.jspecify.annotations.NullMarked;
