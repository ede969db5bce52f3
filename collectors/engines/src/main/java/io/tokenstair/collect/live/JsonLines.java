package io.tokenstair.collect.live;

import io.tokenstair.collect.input.Excerpt;
import io.tokenstair.collect.input.Fields;
import io.tokenstair.collect.input.RejectedRecordException;
import java.io.IOException;
import java.io.UncheckedIOException;

/** Lines of a followed file that are JSON objects: each is taken or rejected, with its place in what was read. */
public final class JsonLines implements FileFollower.Lines {
    private final Source source;
    private final Records records;
    private long lineNumber;

    /** Takes records. */
    public interface Records {
        /** Takes a record; changes nothing when it refuses. */
        void accept(Fields record) throws RejectedRecordException, IOException;
    }

    /** Lines whose records go there. */
    public JsonLines(Source source, Records records) {
        this.source = source;
        this.records = records;
    }

    @Override
    public void line(byte[] bytes, int length) {
        lineNumber++;
        try {
            records.accept(Fields.parse(bytes, length));
            source.taken();
        } catch (RejectedRecordException refused) {
            source.rejected(refused.reason(), lineNumber, Excerpt.ofJson(bytes, length));
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }

    @Override
    public void lost(String reason) {
        source.rejected(reason, lineNumber + 1, null);
    }

    @Override
    public void restarted() {
        lineNumber = 0;
    }
}
