/** Files that people already have to events: one importer a format, and the command that runs them. */
@NullMarked
package io.tokenstair.collect;

import org.jspecify.annotations.NullMarked;
