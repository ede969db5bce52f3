/** Reports of operators, built as events and run through the job: the cause each must find, and those it must not name. */
@NullMarked
package io.tokenstair.job.cases;

import org.jspecify.annotations.NullMarked;
