package io.tokenstair.job.rule;

import io.tokenstair.milestone.Milestone;
import java.util.ArrayList;
import java.util.List;

/**
 * What each stage of a match took, as it travels between operators, which know no lists of lists.
 *
 * @param milestones what all stages took, in stage order
 * @param counts how many each stage took
 */
public record TakenByStage(List<Milestone> milestones, List<Integer> counts) {
    /** Of lists of what each stage took. */
    static TakenByStage of(List<List<Milestone>> byStage) {
        return new TakenByStage(
                byStage.stream().flatMap(List::stream).toList(),
                byStage.stream().map(List::size).toList());
    }

    /** What each stage took. */
    public List<List<Milestone>> byStage() {
        List<List<Milestone>> byStage = new ArrayList<>();
        int from = 0;
        for (int count : counts) {
            byStage.add(List.copyOf(milestones.subList(from, from + count)));
            from += count;
        }
        return List.copyOf(byStage);
    }
}
