/** Tests of {@code io.tokenstair.job.request}. */
@NullMarked
package io.tokenstair.job.request;

import org.jspecify.annotations.NullMarked;
