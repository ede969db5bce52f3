/** What NVIDIA Dynamo writes: request traces of its frontend, forward-pass metrics of its workers. */
@NullMarked
package io.tokenstair.collect.dynamo;

import org.jspecify.annotations.NullMarked;
