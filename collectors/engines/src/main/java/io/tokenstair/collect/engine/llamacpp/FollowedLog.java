package io.tokenstair.collect.engine.llamacpp;

import io.tokenstair.clock.ElapsedClock;
import io.tokenstair.clock.HostClocks;
import io.tokenstair.collect.input.RejectedRecordException;
import io.tokenstair.collect.live.FileFollower;
import io.tokenstair.collect.live.Source;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The log of a server that runs. Its stamps are joined to this machine's clock by {@code t_last}, and, about once a second, by when a line
 * was found that was not there at the look before: it was written between the two.
 */
final class FollowedLog implements FileFollower.Lines {
    private static final long SAMPLE_EVERY_NANOS = 1_000_000_000L;

    private final Source source;
    private final LlamaCppLog log;
    private long lineNumber;
    private boolean news;
    private boolean sawEnd;
    private long lookedNanos;
    private @Nullable Long sampledNanos;

    FollowedLog(Source source, LlamaCppLog log) {
        this.source = source;
        this.log = log;
    }

    @Override
    public void line(byte[] bytes, int length) {
        lineNumber++;
        try {
            // Every byte is a character: the log may hold any.
            log.accept(new String(bytes, 0, length, StandardCharsets.ISO_8859_1));
            news = true;
            source.taken();
        } catch (RejectedRecordException refused) {
            source.rejected(refused.reason(), lineNumber, null);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }

    /** All that was there has been read. */
    void looked() {
        long now = ElapsedClock.system().elapsedNanos();
        Long sampled = sampledNanos;
        if (news && sawEnd && (sampled == null || now - sampled >= SAMPLE_EVERY_NANOS)) {
            sampledNanos = now;
            long half = (now - lookedNanos) / 2;
            try {
                log.wasRead(HostClocks.elapsedId(), now - half, half + 1);
            } catch (IOException impossible) {
                throw new UncheckedIOException(impossible);
            }
        }
        news = false;
        sawEnd = true;
        lookedNanos = now;
    }

    @Override
    public void lost(String reason) {
        source.rejected(reason, lineNumber + 1, null);
    }

    @Override
    public void restarted() {
        lineNumber = 0;
        sawEnd = false;
        try {
            log.restart();
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }

    /** Nothing more is read: tells the tasks that are under way. */
    void end() {
        try {
            log.end();
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }
}
