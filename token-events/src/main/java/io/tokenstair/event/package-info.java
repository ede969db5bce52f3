/** The events of Tokenstair: a closed set of records that say unit and absence of every field. */
@NullMarked
package io.tokenstair.event;

import org.jspecify.annotations.NullMarked;
