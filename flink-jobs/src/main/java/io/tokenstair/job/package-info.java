/** The jobs and the commands that run them. */
@NullMarked
package io.tokenstair.job;

import org.jspecify.annotations.NullMarked;
