/** Fixtures and tests of the archive's reader. */
package io.tokenstair.look.archive;
