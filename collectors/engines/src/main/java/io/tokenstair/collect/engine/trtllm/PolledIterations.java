package io.tokenstair.collect.engine.trtllm;

import io.tokenstair.clock.HostClocks;
import io.tokenstair.collect.input.Fields;
import io.tokenstair.collect.input.Quantities;
import io.tokenstair.collect.input.RejectedRecordException;
import io.tokenstair.collect.input.SequenceLedger;
import io.tokenstair.collect.live.HttpPoller;
import io.tokenstair.collect.live.Source;
import io.tokenstair.event.ClockSampled;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;

/**
 * Iterations as {@code GET /metrics} of trtllm-serve answers them: each answer empties the server's queue, so that what another poller took
 * is lost, and told. A number that was read before is passed over; one that goes back after the server had been away is of a new start. The
 * clock of the iterations is joined to this machine's by the polls: the last of an answer ended between the poll before and this one.
 */
public final class PolledIterations implements HttpPoller.Answers {
    private final String engine;
    private final Source source;
    private Iterations iterations;
    private int starts = 1;
    private boolean wasAway;
    private long polledNanos;

    /**
     * Iterations of which none was polled.
     *
     * @param engine what the engine is called
     * @param source counts and tells
     */
    public PolledIterations(String engine, Source source) {
        this.engine = engine;
        this.source = source;
        this.iterations = new Iterations(source.label(), engine, source.events());
    }

    @Override
    public void answered(byte[] body, long beforeNanos, long afterNanos) {
        try {
            accept(Fields.parseArray(body, body.length), afterNanos);
        } catch (RejectedRecordException refused) {
            source.rejected(refused.reason());
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        polledNanos = afterNanos;
        wasAway = false;
    }

    private void accept(List<Fields> polled, long nowNanos) throws IOException {
        long took = 0;
        long told = 0;
        boolean restarted = false;
        for (Fields iteration : polled) {
            try {
                Long number = iteration.optionalLong("iter");
                Long nanos = Quantities.optionalNanos(iteration, "iterLatencyMS", 1_000_000L);
                took += nanos == null ? 0 : nanos;
                restarted |= wasAway && number != null && iterations.isKnown(number);
            } catch (RejectedRecordException later) {
                // Refused below.
                continue;
            }
        }
        if (restarted) {
            starts++;
            iterations = new Iterations(source.label() + "#" + starts, engine, source.events());
        }
        // Without fine stamps they are laid behind one another so that the last ends now.
        iterations.beginAt(nowNanos - took);
        for (Fields iteration : polled) {
            try {
                Long number = iteration.optionalLong("iter");
                if (number != null && iterations.isKnown(number)) {
                    continue;
                }
                iterations.accept(iteration);
                source.taken();
                told++;
            } catch (RejectedRecordException refused) {
                source.rejected(refused.reason());
            }
        }
        for (SequenceLedger.Missing run : iterations.takeMissing()) {
            source.lost(source.label(), run.first(), run.last(), nowNanos);
        }
        if (told > 0 && polledNanos > 0) {
            long half = Math.max(1, (nowNanos - polledNanos) / 2);
            long end = iterations.endNanos();
            source.tell(
                    nowNanos,
                    new ClockSampled(
                            iterations.clockId(), HostClocks.elapsedId(), end, nowNanos - half, end, half, engine));
        }
    }

    @Override
    public void failed(String reason, long beforeNanos) {
        wasAway = true;
        source.rejected(reason);
    }
}
