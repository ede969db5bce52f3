/** What Flink wants to know of a type that brings its own serializer, and the bytes such serializers share. */
@NullMarked
package io.tokenstair.job.type;

import org.jspecify.annotations.NullMarked;
