/** Tests of the JSON forms. */
package io.tokenstair.look.json;
