package io.tokenstair.rule.bound;

import io.tokenstair.milestone.Milestone;
import org.jspecify.annotations.Nullable;

/** What the milestones of one match have in common. */
public enum RuleKey {
    /** One use of one request id. */
    REQUEST,
    /** One engine. */
    ENGINE,
    /** One GPU or other device. */
    DEVICE;

    /** The key of a milestone, as text; null where it has none and so takes part in no match. */
    public @Nullable String of(Milestone milestone) {
        return switch (this) {
            case REQUEST ->
                milestone.requestId() == null || milestone.lifetime() == null
                        ? null
                        : milestone.requestId() + "#" + milestone.lifetime();
            case ENGINE -> milestone.engineId();
            case DEVICE -> milestone.deviceId();
        };
    }
}
