/** The event catalogue as JSON lines: the form that people and tests write by hand. */
@NullMarked
package io.tokenstair.collect.events;

import org.jspecify.annotations.NullMarked;
