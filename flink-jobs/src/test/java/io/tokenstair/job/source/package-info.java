/** Tests of the sources, against real folders and a real broker. */
@NullMarked
package io.tokenstair.job.source;

import org.jspecify.annotations.NullMarked;
