/** Tests of the life of a request. */
@NullMarked
package io.tokenstair.job.request;

import org.jspecify.annotations.NullMarked;
