/** Tests of the commands about rules. */
@org.jspecify.annotations.NullMarked
package io.tokenstair.look.rule;
