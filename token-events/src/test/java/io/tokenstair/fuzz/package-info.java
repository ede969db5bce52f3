@NullMarked
package io.tokenstair.fuzz;

import org.jspecify.annotations.NullMarked;
