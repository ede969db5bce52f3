/** The result tables of an archive, a record each: what findings, explain, the page and notebooks read. */
@NullMarked
package io.tokenstair.archive.result;

import org.jspecify.annotations.NullMarked;
