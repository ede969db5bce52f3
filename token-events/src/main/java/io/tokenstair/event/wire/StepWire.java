package io.tokenstair.event.wire;

import io.tokenstair.event.HandleAnnounced;
import io.tokenstair.event.Phase;
import io.tokenstair.event.SequenceRows;
import io.tokenstair.event.StepCompleted;
import java.util.ArrayList;
import java.util.List;

/** Steps to their message and back: the rows travel as packed columns, value + 1 where a value can be unknown. */
final class StepWire {
    private StepWire() {}

    static io.tokenstair.event.wire.proto.StepCompleted encode(StepCompleted step) {
        var message = io.tokenstair.event.wire.proto.StepCompleted.newBuilder()
                .setEngineId(step.engineId())
                .setDpRank(step.dpRank())
                .setStepId(step.stepId())
                .setUpdateEndNanos(step.updateEndNanos());
        if (step.scheduleStartNanos() != null) {
            message.setScheduleStartNanos(step.scheduleStartNanos());
        }
        if (step.scheduleEndNanos() != null) {
            message.setScheduleEndNanos(step.scheduleEndNanos());
        }
        if (step.updateStartNanos() != null) {
            message.setUpdateStartNanos(step.updateStartNanos());
        }
        if (step.forwardMode() != null) {
            message.setForwardMode(step.forwardMode());
        }
        if (step.graphMode() != null) {
            message.setGraphMode(step.graphMode());
        }
        if (step.paddedBatchCount() != null) {
            message.setPaddedBatchCount(step.paddedBatchCount());
        }
        if (step.decodeTokens() != null) {
            message.setDecodeTokens(step.decodeTokens());
        }
        if (step.prefillTokens() != null) {
            message.setPrefillTokens(step.prefillTokens());
        }
        if (step.recomputeTokens() != null) {
            message.setRecomputeTokens(step.recomputeTokens());
        }
        if (step.runningCount() != null) {
            message.setRunningCount(step.runningCount());
        }
        if (step.waitingCount() != null) {
            message.setWaitingCount(step.waitingCount());
        }
        if (step.kvUsedBlocksCount() != null) {
            message.setKvUsedBlocksCount(step.kvUsedBlocksCount());
        }
        if (step.kvTotalBlocksCount() != null) {
            message.setKvTotalBlocksCount(step.kvTotalBlocksCount());
        }
        if (step.kvBatchSequence() != null) {
            message.setKvBatchSequence(step.kvBatchSequence());
        }
        if (step.probeNanos() != null) {
            message.setProbeNanos(step.probeNanos());
        }
        for (HandleAnnounced announced : step.announcements()) {
            message.addAnnouncedHandle(announced.requestHandle())
                    .addAnnouncedEngineRequestId(announced.engineRequestId());
        }
        SequenceRows rows = step.rows();
        for (int i = 0; i < rows.count(); i++) {
            message.addRequestHandle(rows.requestHandle(i))
                    .addFirstTokenIndexPlus1(rows.firstTokenIndex(i) + 1)
                    .addTokenCount(rows.tokenCount(i))
                    .addContextTokens(rows.contextTokens(i))
                    .addScheduledTokens(rows.scheduledTokens(i))
                    .addPhase(rows.phaseCode(i))
                    .addCachedTokensPlus1(rows.cachedTokens(i) + 1)
                    .addPreemptionCountPlus1(rows.preemptionCount(i) + 1)
                    .addWaitNanosPlus1(rows.waitNanos(i) + 1);
        }
        return message.build();
    }

    static StepCompleted decode(io.tokenstair.event.wire.proto.StepCompleted message) {
        if (message.getAnnouncedHandleCount() != message.getAnnouncedEngineRequestIdCount()) {
            throw new IllegalArgumentException("Cannot pair announced handles with ids: "
                    + message.getAnnouncedHandleCount() + " and " + message.getAnnouncedEngineRequestIdCount());
        }
        List<HandleAnnounced> announcements = new ArrayList<>(message.getAnnouncedHandleCount());
        EventCodec.checkId("engineId", message.getEngineId());
        for (int i = 0; i < message.getAnnouncedHandleCount(); i++) {
            EventCodec.checkId("engineRequestId", message.getAnnouncedEngineRequestId(i));
            announcements.add(
                    new HandleAnnounced(message.getAnnouncedHandle(i), message.getAnnouncedEngineRequestId(i)));
        }
        return new StepCompleted(
                message.getEngineId(),
                message.getDpRank(),
                message.getStepId(),
                message.hasScheduleStartNanos() ? message.getScheduleStartNanos() : null,
                message.hasScheduleEndNanos() ? message.getScheduleEndNanos() : null,
                message.hasUpdateStartNanos() ? message.getUpdateStartNanos() : null,
                message.getUpdateEndNanos(),
                message.hasForwardMode() ? message.getForwardMode() : null,
                message.hasGraphMode() ? message.getGraphMode() : null,
                message.hasPaddedBatchCount() ? message.getPaddedBatchCount() : null,
                message.hasDecodeTokens() ? message.getDecodeTokens() : null,
                message.hasPrefillTokens() ? message.getPrefillTokens() : null,
                message.hasRecomputeTokens() ? message.getRecomputeTokens() : null,
                message.hasRunningCount() ? message.getRunningCount() : null,
                message.hasWaitingCount() ? message.getWaitingCount() : null,
                message.hasKvUsedBlocksCount() ? message.getKvUsedBlocksCount() : null,
                message.hasKvTotalBlocksCount() ? message.getKvTotalBlocksCount() : null,
                message.hasKvBatchSequence() ? message.getKvBatchSequence() : null,
                message.hasProbeNanos() ? message.getProbeNanos() : null,
                announcements,
                decodeRows(message));
    }

    private static SequenceRows decodeRows(io.tokenstair.event.wire.proto.StepCompleted message) {
        int n = message.getRequestHandleCount();
        if (message.getFirstTokenIndexPlus1Count() != n
                || message.getTokenCountCount() != n
                || message.getContextTokensCount() != n
                || message.getScheduledTokensCount() != n
                || message.getPhaseCount() != n
                || message.getCachedTokensPlus1Count() != n
                || message.getPreemptionCountPlus1Count() != n
                || message.getWaitNanosPlus1Count() != n) {
            throw new IllegalArgumentException("Cannot join step columns of different lengths: " + n + " handles");
        }
        int[] handle = new int[n];
        int[] firstToken = new int[n];
        int[] tokens = new int[n];
        int[] context = new int[n];
        int[] scheduled = new int[n];
        byte[] phase = new byte[n];
        int[] cached = new int[n];
        int[] preemptions = new int[n];
        long[] wait = new long[n];
        for (int i = 0; i < n; i++) {
            handle[i] = message.getRequestHandle(i);
            firstToken[i] = message.getFirstTokenIndexPlus1(i) - 1;
            tokens[i] = message.getTokenCount(i);
            context[i] = message.getContextTokens(i);
            scheduled[i] = message.getScheduledTokens(i);
            phase[i] = (byte) Phase.ofCode(message.getPhase(i)).code();
            cached[i] = message.getCachedTokensPlus1(i) - 1;
            preemptions[i] = message.getPreemptionCountPlus1(i) - 1;
            wait[i] = message.getWaitNanosPlus1(i) - 1;
            if (tokens[i] < 0
                    || context[i] < 0
                    || scheduled[i] < 0
                    || message.getFirstTokenIndexPlus1(i) < 0
                    || message.getCachedTokensPlus1(i) < 0
                    || message.getPreemptionCountPlus1(i) < 0
                    || message.getWaitNanosPlus1(i) < 0) {
                throw new IllegalArgumentException("Cannot hold a negative value in row " + i);
            }
        }
        return new SequenceRows(handle, firstToken, tokens, context, scheduled, phase, cached, preemptions, wait);
    }
}
