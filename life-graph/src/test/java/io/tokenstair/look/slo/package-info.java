@NullMarked
package io.tokenstair.look.slo;

import org.jspecify.annotations.NullMarked;
