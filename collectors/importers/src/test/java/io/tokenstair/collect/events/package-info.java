/** Tests of the JSON lines of the event catalogue. */
@NullMarked
package io.tokenstair.collect.events;

import org.jspecify.annotations.NullMarked;
