/** The reading commands: findings, explain and view over the result tables of an archive. */
@NullMarked
package io.tokenstair.look;

import org.jspecify.annotations.NullMarked;
