/** What a misspelt name was meant to be, for the end of an error. */
@NullMarked
package io.tokenstair.spelling;

import org.jspecify.annotations.NullMarked;
