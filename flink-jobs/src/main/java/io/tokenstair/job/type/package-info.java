/** What Flink wants to know of a type that brings its own serializer. */
@NullMarked
package io.tokenstair.job.type;

import org.jspecify.annotations.NullMarked;
