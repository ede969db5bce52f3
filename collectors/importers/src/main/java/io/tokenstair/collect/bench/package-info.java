/** Results of benchmark clients, which time the chunks of each answer, and of engines that stamp each request. */
@NullMarked
package io.tokenstair.collect.bench;

import org.jspecify.annotations.NullMarked;
