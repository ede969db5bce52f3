package io.tokenstair.job.finding;

import io.tokenstair.archive.result.ContentHash;
import io.tokenstair.archive.result.Remark;
import io.tokenstair.cause.Confidence;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Makes remarks: under the hash of what they say, and with the events they cite. */
public final class Remarks {
    private Remarks() {}

    /** A remark. */
    public static Remark of(
            String topic,
            String subject,
            @Nullable Long fromEpochNanos,
            @Nullable Long toEpochNanos,
            Confidence confidence,
            String why,
            List<String> evidence,
            List<String> missingLayers,
            String narrative) {
        String remarkId = ContentHash.of(
                topic,
                subject,
                String.valueOf(fromEpochNanos),
                String.valueOf(toEpochNanos),
                confidence.levelName(),
                String.join("\u001e", evidence),
                narrative);
        return new Remark(
                remarkId,
                topic,
                subject,
                fromEpochNanos,
                toEpochNanos,
                confidence.levelName(),
                why,
                new ArrayList<>(evidence),
                new ArrayList<>(missingLayers),
                narrative);
    }
}
