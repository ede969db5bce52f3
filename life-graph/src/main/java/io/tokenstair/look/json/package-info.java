/** The JSON forms of findings, requests and tokens: a public interface, fields are added and never renamed. */
@NullMarked
package io.tokenstair.look.json;

import org.jspecify.annotations.NullMarked;
