package io.tokenstair.collect.otlp.receive;

import io.tokenstair.clock.EpochClock;
import io.tokenstair.collect.otlp.OtlpBatch;
import io.tokenstair.collect.otlp.OtlpDecoder;
import io.tokenstair.collect.otlp.OtlpException;
import io.tokenstair.collect.otlp.OtlpRequest;
import io.tokenstair.collect.otlp.OtlpSignal;
import io.tokenstair.collect.otlp.SglangSteps;
import io.tokenstair.collect.otlp.TimedEvent;
import io.tokenstair.collect.otlp.TritonSpans;
import io.tokenstair.event.Rejected;
import java.util.Map;

/**
 * Takes the bytes of one request after another to the log, whichever protocol brought them. A request is taken as a whole or not at all: where the
 * queue to the log has no room for it the client is asked to send it again, and nothing of it was taken.
 */
final class OtlpIntake {
    /** Stamps that reporters made with wall clocks of hosts that are not known. */
    private static final String REPORTED = "wall@otlp";

    /** Slices of SGLang's requests under way: a few MB. */
    private static final int MOST_SLICES = 1 << 17;

    private final ReceiverSettings settings;
    private final EventWay way;
    private final EpochClock wall;
    private final ReceiverCounts counts;
    private final OtlpDecoder decoder = new OtlpDecoder();
    private final SglangSteps steps = new SglangSteps(MOST_SLICES);
    private final TritonSpans triton = new TritonSpans(false);

    OtlpIntake(ReceiverSettings settings, EventWay way, EpochClock wall, ReceiverCounts counts) {
        this.settings = settings;
        this.way = way;
        this.wall = wall;
        this.counts = counts;
    }

    /** Takes a request; one at a time, so that no more than one is in memory decoded. */
    synchronized Answer take(OtlpSignal signal, byte[] body, boolean zipped, boolean json) {
        OtlpBatch batch;
        try {
            byte[] plain = zipped ? OtlpRequest.unzipped(body, settings.limits()) : body;
            OtlpRequest request = json
                    ? OtlpRequest.json(signal, plain, plain.length, settings.limits())
                    : OtlpRequest.protobuf(signal, plain, settings.limits());
            batch = decoder.decode(
                    request, wall.epochNanos() + settings.futureTolerance().toNanos());
        } catch (OtlpException e) {
            if (way.roomCount() > 0) {
                way.offer(null, null, new Rejected("otlp" + signal.path(), null, null, e.reason(), null));
            }
            counts.items(signal, 0, 1, 0);
            return Answer.refused(e.isTooLarge() ? Answer.Kind.TOO_LARGE : Answer.Kind.UNREADABLE, e.reason());
        }
        int needed = batch.events().size() + batch.reasons().size();
        if (needed > way.roomCount() && needed <= way.mostCount()) {
            return Answer.refused(Answer.Kind.BUSY, busy());
        }
        steps.accept(batch.events());
        Answer answer = offered(signal, batch);
        triton.accept(batch.events(), this::offerReported);
        return answer;
    }

    /** Tells the engine steps that SGLang's traces have completed. */
    synchronized void drainSteps() {
        steps.drain(wall.epochNanos(), this::offerReported);
    }

    /** Tells all the engine steps there are: nothing more comes. */
    synchronized void endSteps() {
        steps.finish(this::offerReported);
    }

    private void offerReported(TimedEvent timed) {
        way.offer(REPORTED, timed.epochNanos(), timed.event());
    }

    private String busy() {
        String trouble = way.trouble();
        return trouble == null ? "the queue to the log is full" : "the log cannot be written to";
    }

    private Answer offered(OtlpSignal signal, OtlpBatch batch) {
        long lost = 0;
        for (TimedEvent timed : batch.events()) {
            boolean kept = timed.epochNanos() == null
                    ? way.offer(null, null, timed.event())
                    : way.offer(REPORTED, timed.epochNanos(), timed.event());
            lost += kept ? 0 : 1;
        }
        for (Map.Entry<String, Long> reason : batch.reasons().entrySet()) {
            String told =
                    reason.getValue() == 1 ? reason.getKey() : reason.getKey() + " (" + reason.getValue() + " times)";
            way.offer(null, null, new Rejected("otlp" + signal.path(), null, null, told, null));
        }
        // A lost event takes its item with it as far as the client is concerned.
        long unkept = Math.min(lost, batch.accepted());
        counts.items(
                signal,
                batch.accepted() - unkept,
                batch.rejected() + unkept,
                Math.min(batch.passedOver(), batch.accepted() - unkept));
        String message = batch.message();
        if (lost > 0) {
            message =
                    (message.isEmpty() ? "" : message + "; ") + "no room in the queue to the log (" + lost + " events)";
        }
        return new Answer(Answer.Kind.TAKEN, batch.rejected() + unkept, message);
    }
}
