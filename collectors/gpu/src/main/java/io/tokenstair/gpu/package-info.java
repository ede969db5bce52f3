/** What the GPU side of a machine offers: device detection by JCuda, and the {@code doctor} command. */
@NullMarked
package io.tokenstair.gpu;

import org.jspecify.annotations.NullMarked;
