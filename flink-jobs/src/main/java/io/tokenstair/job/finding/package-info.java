/** What findings of requests, engines and rules have in common. */
@NullMarked
package io.tokenstair.job.finding;

import org.jspecify.annotations.NullMarked;
