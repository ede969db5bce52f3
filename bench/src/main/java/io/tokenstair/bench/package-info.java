/** How fast the whole job is, beside a job that only ships tokens. */
@NullMarked
package io.tokenstair.bench;

import org.jspecify.annotations.NullMarked;
