package io.tokenstair.look.archive;

import java.util.List;

/**
 * A page of a list of sequences.
 *
 * @param total how many match in all
 * @param sequences those of the page
 */
public record SequencePage(long total, List<SequenceSummary> sequences) {}
