package io.tokenstair.rule.bound;

import io.tokenstair.milestone.Milestone;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a match has taken so far. */
public interface Taken {
    /** What a stage took, in order; empty where it took nothing yet or was left out. */
    List<Milestone> of(int stage);

    /** The milestone taken last, whatever its stage; null where none was. */
    @Nullable
    Milestone previous();

    /**
     * Of a match written down stage by stage.
     *
     * @param byStage what each stage took, by its index; read, not copied
     */
    static Taken of(List<List<Milestone>> byStage) {
        return new Taken() {
            @Override
            public List<Milestone> of(int stage) {
                return byStage.get(stage);
            }

            @Override
            public @Nullable Milestone previous() {
                for (int stage = byStage.size() - 1; stage >= 0; stage--) {
                    List<Milestone> ofStage = byStage.get(stage);
                    if (!ofStage.isEmpty()) {
                        return ofStage.get(ofStage.size() - 1);
                    }
                }
                return null;
            }
        };
    }
}
