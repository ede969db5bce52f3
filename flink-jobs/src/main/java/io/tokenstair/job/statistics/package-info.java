/**
 * Statistics over event time: sliding quantiles, robust outliers, conditional covariance, priority displacement. Everything that is
 * added up is an integer, so that the order of adding does not matter and a window can give back what leaves it. Formulas:
 * docs/accuracy.md.
 */
@NullMarked
package io.tokenstair.job.statistics;

import org.jspecify.annotations.NullMarked;
