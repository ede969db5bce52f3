/** What the GPU side of a machine offers: device detection by JCuda, and what else {@code doctor} asks of a machine. */
@NullMarked
package io.tokenstair.gpu;

import org.jspecify.annotations.NullMarked;
