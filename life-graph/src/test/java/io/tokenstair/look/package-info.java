/** The sample archive and the tests of the commands. */
package io.tokenstair.look;
