/** Milestones: rare, edge-triggered facts derived from many tokens. Rules match these. */
@NullMarked
package io.tokenstair.milestone;

import org.jspecify.annotations.NullMarked;
