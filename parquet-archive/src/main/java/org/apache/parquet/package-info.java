/** One class that reaches a package-private constructor of Parquet, so that reading needs no Hadoop. */
@NullMarked
package org.apache.parquet;

import org.jspecify.annotations.NullMarked;
