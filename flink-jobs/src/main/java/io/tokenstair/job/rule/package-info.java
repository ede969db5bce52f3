/** Match: bound rules run over milestones by flink-cep. */
@NullMarked
package io.tokenstair.job.rule;

import org.jspecify.annotations.NullMarked;
