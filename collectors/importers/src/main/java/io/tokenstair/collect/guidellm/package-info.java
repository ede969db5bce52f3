/** Reports of GuideLLM. */
@NullMarked
package io.tokenstair.collect.guidellm;

import org.jspecify.annotations.NullMarked;
