/** What is concluded of an engine as a whole, over many steps or from its counters alone. */
@NullMarked
package io.tokenstair.job.engine;

import org.jspecify.annotations.NullMarked;
