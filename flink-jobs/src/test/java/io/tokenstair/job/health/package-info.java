@NullMarked
package io.tokenstair.job.health;

import org.jspecify.annotations.NullMarked;
