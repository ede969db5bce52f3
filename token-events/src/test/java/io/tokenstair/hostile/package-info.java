@NullMarked
package io.tokenstair.hostile;

import org.jspecify.annotations.NullMarked;
