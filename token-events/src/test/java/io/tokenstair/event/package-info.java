/** Events made up for tests, shared with the other modules, and the test of the catalogue. */
@NullMarked
package io.tokenstair.event;

import org.jspecify.annotations.NullMarked;
