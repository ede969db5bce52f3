package io.tokenstair.job.sink;

import io.tokenstair.archive.RawTables;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.StepCompleted;
import java.util.function.Consumer;
import org.apache.flink.api.common.typeinfo.TypeInfo;

/**
 * What one raw table holds of an event. Decoded, because the archive writes columns; between chained operators nothing is copied.
 *
 * @param table the raw table
 * @param event the event
 * @param late true when it came after its lateness bound
 */
@TypeInfo(RawArchiveRowTypeInfo.Factory.class)
public record RawArchiveRow(String table, LoggedEvent event, boolean late) {

    /** Gives an event to every table that has rows of it: one, or for a step up to three. */
    public static void forEach(LoggedEvent event, boolean late, Consumer<RawArchiveRow> out) {
        out.accept(new RawArchiveRow(event.event().kind().wireName(), event, late));
        if (event.event() instanceof StepCompleted step) {
            if (step.rows().count() > 0) {
                out.accept(new RawArchiveRow(RawTables.STEP_SEQUENCE, event, late));
            }
            if (!step.announcements().isEmpty()) {
                out.accept(new RawArchiveRow(RawTables.HANDLE_ANNOUNCED, event, late));
            }
        }
    }
}
