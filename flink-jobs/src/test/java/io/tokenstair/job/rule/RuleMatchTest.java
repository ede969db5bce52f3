package io.tokenstair.job.rule;

import static org.apache.flink.types.PojoTestUtils.assertSerializedAsPojoWithoutKryo;

import io.tokenstair.milestone.Milestone;
import org.junit.jupiter.api.Test;

/** What travels between operators needs no generic serializer. */
class RuleMatchTest {
    @Test
    void milestonesAndMatchesAreSerializedWithoutKryo() {
        assertSerializedAsPojoWithoutKryo(Milestone.class);
        assertSerializedAsPojoWithoutKryo(RuleMatch.class);
    }
}
