@NullMarked
package io.tokenstair.collector.reach;

import org.jspecify.annotations.NullMarked;
