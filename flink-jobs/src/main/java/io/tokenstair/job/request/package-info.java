/** Request analysis: one request joined from all sides. Pure logic; the Flink function around it is AnalyseRequests. */
@NullMarked
package io.tokenstair.job.request;

import org.jspecify.annotations.NullMarked;
