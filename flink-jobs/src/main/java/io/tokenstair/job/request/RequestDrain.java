package io.tokenstair.job.request;

import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.clock.ClockGraph;
import io.tokenstair.job.statistics.PaneCounter;
import io.tokenstair.job.statistics.StatisticsOutput;
import io.tokenstair.job.timer.EarliestTimer;
import io.tokenstair.milestone.Milestone;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.util.OutputTag;

/** Feeds the {@link RequestLife} of a request with what event time has completed of its inputs. */
final class RequestDrain {
    /** Nothing need be remembered of the request. */
    static final long FORGOTTEN = Long.MIN_VALUE;

    private static final long TIMER_GRID_MILLIS = 500;

    /** The timer of inputs without event time, which wait for the end of everything. */
    static final long END = Long.MAX_VALUE;

    private final boolean runs;
    private final List<RequestInput> due = new ArrayList<>();
    private final PaneCounter counter = new PaneCounter(StatisticsOutput.NOWHERE::durations);

    /**
     * Drains requests.
     *
     * @param runs whether tokens of which there is nothing to say but their numbers come as runs, not as rows
     */
    RequestDrain(boolean runs) {
        this.runs = runs;
    }

    /** Where an operator puts what it says. */
    interface Sides {
        /** Says it of the main output. */
        void token(TokenAnalysis token);

        /** Says it of a side output. */
        <X> void say(OutputTag<X> tag, X value);
    }

    /** The timer of what has this event time. */
    static long timerMillis(long millis) {
        return millis > END - AnalyseRequests.HOLD_MILLIS - TIMER_GRID_MILLIS
                ? END
                : EarliestTimer.after(millis + AnalyseRequests.HOLD_MILLIS, TIMER_GRID_MILLIS);
    }

    /**
     * Takes in what event time has completed.
     *
     * @return the event time of what comes next of it, or {@link #FORGOTTEN}
     */
    long drain(
            String requestId,
            RequestBuffer buffer,
            RequestState request,
            long watermark,
            ClockGraph clocks,
            Sides sides) {
        boolean end = watermark == Long.MAX_VALUE;
        long complete = end ? Long.MAX_VALUE : watermark - AnalyseRequests.HOLD_MILLIS;
        counter.shipTo(pane -> sides.say(AnalyseRequests.DURATIONS, pane));
        RequestLife life = new RequestLife(requestId, request, new Shipping(sides, runs), counter, clocks);
        List<RequestInput> taken = takeDue(buffer, complete);
        RequestInput before = null;
        for (RequestInput input : taken) {
            if (before != null
                    && input.event != null
                    && before.event != null
                    && RequestInput.ORDER.compare(before, input) == 0) {
                // The same event again: a log or an archive that was written twice.
                continue;
            }
            before = input;
            life.accept(input);
        }
        taken.clear();
        counter.ship();
        if (end) {
            life.finish();
            return FORGOTTEN;
        }
        boolean forgotten = life.advance(complete);
        if (forgotten && buffer.inputs.isEmpty()) {
            return FORGOTTEN;
        }
        long next = Math.min(life.nextEndMillis(), buffer.earliestMillis());
        if (buffer.inputs.isEmpty() && request.open.isEmpty()) {
            // It may rest for a day: lists that have been long keep their room.
            buffer.inputs = new ArrayList<>(0);
            request.open = new ArrayList<>(0);
        }
        return next;
    }

    /** Takes what event time has completed out of the inputs, in order. The list is the same at every call. */
    private List<RequestInput> takeDue(RequestBuffer buffer, long complete) {
        buffer.takeDue(complete, due);
        due.sort(RequestInput.ORDER);
        return due;
    }

    /** Sends what a life says into the job. */
    private record Shipping(Sides sides, boolean runs) implements RequestOutput {
        @Override
        public void token(TokenAnalysis token) {
            sides.token(token);
        }

        @Override
        public void tokens(TokenRun run) {
            if (runs) {
                sides.say(AnalyseRequests.RUNS, run);
            } else {
                run.forEach(sides::token);
            }
        }

        @Override
        public void request(RequestAnalysis request) {
            sides.say(AnalyseRequests.REQUESTS, request);
        }

        @Override
        public void finding(Finding finding) {
            sides.say(AnalyseRequests.FINDINGS, finding);
        }

        @Override
        public void milestone(Milestone milestone) {
            sides.say(AnalyseRequests.MILESTONES, milestone);
        }
    }
}
