@NullMarked
package io.tokenstair.collect.bench;

import org.jspecify.annotations.NullMarked;
