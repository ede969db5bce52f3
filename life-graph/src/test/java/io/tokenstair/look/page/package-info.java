/** Tests of the page and its server. */
package io.tokenstair.look.page;
