/** Step analysis: one engine on its own timeline. Expected time, parts, causes. Pure logic; the Flink function around it is AnalyseSteps. */
@NullMarked
package io.tokenstair.job.step;

import org.jspecify.annotations.NullMarked;
