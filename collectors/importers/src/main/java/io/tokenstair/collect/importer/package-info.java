/** What all importers share: one interface, counting of records, and what is said to the user. */
@NullMarked
package io.tokenstair.collect.importer;

import org.jspecify.annotations.NullMarked;
