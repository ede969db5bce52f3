/** The commands about rules: what there is, whether it is right, what it found and would find, and how it reaches a running job. */
@NullMarked
package io.tokenstair.look.rule;

import org.jspecify.annotations.NullMarked;
