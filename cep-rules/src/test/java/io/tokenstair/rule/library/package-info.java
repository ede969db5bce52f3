/** Tests of the package library. */
@NullMarked
package io.tokenstair.rule.library;

import org.jspecify.annotations.NullMarked;
