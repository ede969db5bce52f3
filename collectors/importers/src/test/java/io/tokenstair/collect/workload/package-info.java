@NullMarked
package io.tokenstair.collect.workload;

import org.jspecify.annotations.NullMarked;
