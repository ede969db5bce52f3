/** Tests of what the commands print for people. */
package io.tokenstair.look.text;
