/** Where records enter the graph: the folder log, a Kafka topic, an archive; and the event time they carry. */
@NullMarked
package io.tokenstair.job.source;

import org.jspecify.annotations.NullMarked;
