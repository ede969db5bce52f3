/** Finds lasting level rises of one request's token time: staircases, shifts and ramps. */
@NullMarked
package io.tokenstair.job.staircase;

import org.jspecify.annotations.NullMarked;
