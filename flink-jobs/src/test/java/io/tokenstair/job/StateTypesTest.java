package io.tokenstair.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.archive.result.Covariance;
import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.LayerReport;
import io.tokenstair.archive.result.ModelSnapshot;
import io.tokenstair.archive.result.PriorityDisplacement;
import io.tokenstair.archive.result.Quantile;
import io.tokenstair.archive.result.Remark;
import io.tokenstair.archive.result.RequestAnalysis;
import io.tokenstair.archive.result.RuleMinute;
import io.tokenstair.archive.result.StepAnalysis;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.clock.ClockFit;
import io.tokenstair.clock.ClockTick;
import io.tokenstair.clock.ClockWay;
import io.tokenstair.event.EventFixtures;
import io.tokenstair.event.EventKind;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.job.clock.ClockBuffer;
import io.tokenstair.job.clock.ClockRecord;
import io.tokenstair.job.clock.FittingState;
import io.tokenstair.job.clock.PublishedSegment;
import io.tokenstair.job.clock.WayFit;
import io.tokenstair.job.engine.BenchmarkRun;
import io.tokenstair.job.engine.EngineWatch;
import io.tokenstair.job.engine.MetricWatch;
import io.tokenstair.job.engine.Rates;
import io.tokenstair.job.engine.RequestTimes;
import io.tokenstair.job.engine.RunSeries;
import io.tokenstair.job.engine.SampleWatch;
import io.tokenstair.job.engine.WorkloadFigures;
import io.tokenstair.job.evidence.EngineEvidence;
import io.tokenstair.job.evidence.Evidence;
import io.tokenstair.job.evidence.TransferWait;
import io.tokenstair.job.layer.LayerCount;
import io.tokenstair.job.request.LifetimeState;
import io.tokenstair.job.request.PendingToken;
import io.tokenstair.job.request.RandomClients;
import io.tokenstair.job.request.RequestBuffer;
import io.tokenstair.job.request.RequestInput;
import io.tokenstair.job.request.RequestScript;
import io.tokenstair.job.request.RequestState;
import io.tokenstair.job.request.SequenceLife;
import io.tokenstair.job.request.SlowGroup;
import io.tokenstair.job.rule.ActivityMinutes;
import io.tokenstair.job.rule.ActivityPart;
import io.tokenstair.job.rule.FoundWay;
import io.tokenstair.job.rule.KeyState;
import io.tokenstair.job.rule.KnownRule;
import io.tokenstair.job.rule.OpenMatches;
import io.tokenstair.job.rule.RuleMatch;
import io.tokenstair.job.rule.RuleRun;
import io.tokenstair.job.rule.ScheduledRule;
import io.tokenstair.job.rule.SchedulingState;
import io.tokenstair.job.sink.RawArchiveRow;
import io.tokenstair.job.source.RawRecord;
import io.tokenstair.job.staircase.StaircaseState;
import io.tokenstair.job.statistics.BlockSeries;
import io.tokenstair.job.statistics.DisplacementPane;
import io.tokenstair.job.statistics.DurationHistogram;
import io.tokenstair.job.statistics.DurationPane;
import io.tokenstair.job.statistics.DurationWindow;
import io.tokenstair.job.statistics.EngineStatisticsState;
import io.tokenstair.job.statistics.MomentPane;
import io.tokenstair.job.statistics.MomentSums;
import io.tokenstair.job.statistics.MomentWindow;
import io.tokenstair.job.step.EngineBuffer;
import io.tokenstair.job.step.EngineRecord;
import io.tokenstair.job.step.EngineState;
import io.tokenstair.job.step.HostThreads;
import io.tokenstair.job.step.KvSigns;
import io.tokenstair.job.step.PrefillStep;
import io.tokenstair.job.step.PrefixBlocks;
import io.tokenstair.job.step.RandomEngine;
import io.tokenstair.job.step.SequenceFact;
import io.tokenstair.job.step.SequenceName;
import io.tokenstair.job.step.SequenceState;
import io.tokenstair.job.step.SlowToken;
import io.tokenstair.job.step.StairsState;
import io.tokenstair.job.step.StepTimeModel;
import io.tokenstair.job.step.StepTimeSnapshot;
import io.tokenstair.job.step.TokenBatch;
import io.tokenstair.job.step.TokenRow;
import io.tokenstair.job.step.Told;
import io.tokenstair.job.step.UsualGraphMode;
import io.tokenstair.job.window.SortedWindow;
import io.tokenstair.milestone.Milestone;
import io.tokenstair.rule.match.OpenMatch;
import io.tokenstair.rule.match.OpenWay;
import io.tokenstair.rule.match.RuleActivity;
import io.tokenstair.rule.match.RuleProgress;
import java.io.IOException;
import java.util.List;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.types.PojoTestUtils;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What crosses operators or is kept as state has a serializer of its own or Flink's for POJOs, down to its last field. */
class StateTypesTest {

    @ParameterizedTest
    @ValueSource(
            classes = {
                EngineRecord.class,
                EngineBuffer.class,
                EngineState.class,
                SequenceState.class,
                SequenceName.class,
                SequenceFact.class,
                SlowToken.class,
                SortedWindow.class,
                StepTimeModel.State.class,
                StepTimeSnapshot.class,
                UsualGraphMode.class,
                HostThreads.class,
                EngineEvidence.class,
                EngineWatch.class,
                Evidence.class,
                TransferWait.class,
                PrefillStep.class,
                PrefixBlocks.class,
                KvSigns.class,
                StairsState.class,
                StairsState.Cited.class,
                StaircaseState.class,
                ClockWay.class,
                ClockFit.class,
                ClockTick.class,
                ClockRecord.class,
                ClockBuffer.class,
                WayFit.class,
                FittingState.class,
                PublishedSegment.class,
                RequestBuffer.class,
                RequestState.class,
                LifetimeState.class,
                SequenceLife.class,
                SlowGroup.class,
                PendingToken.class,
                LayerCount.class,
                FoundWay.class,
                OpenMatch.class,
                OpenWay.class,
                RuleActivity.class,
                RuleMatch.class,
                RuleProgress.class,
                ScheduledRule.class,
                OpenMatches.class,
                SchedulingState.class,
                KnownRule.class,
                KeyState.class,
                RuleRun.class,
                ActivityPart.class,
                ActivityMinutes.class,
                RuleMinute.class,
                TokenAnalysis.class,
                RequestAnalysis.class,
                StepAnalysis.class,
                Finding.class,
                LayerReport.class,
                ModelSnapshot.class,
                EngineStatisticsState.class,
                BlockSeries.class,
                MomentPane.class,
                MomentSums.class,
                MomentWindow.class,
                DisplacementPane.class,
                DurationPane.class,
                DurationHistogram.class,
                DurationWindow.class,
                Quantile.class,
                Covariance.class,
                PriorityDisplacement.class,
                Remark.class,
                MetricWatch.class,
                Rates.class,
                SampleWatch.class,
                RunSeries.class,
                BenchmarkRun.class,
                WorkloadFigures.class,
                RequestTimes.class,
                Milestone.class
            })
    void isAPojoWithoutKryo(Class<?> type) {
        PojoTestUtils.assertSerializedAsPojoWithoutKryo(type);
    }

    @ParameterizedTest
    @ValueSource(classes = {RequestInput.class, TokenBatch.class})
    void hasASerializerOfItsOwn(Class<?> type) {
        assertThat(serializer(type).getClass().getPackageName()).startsWith("io.tokenstair");
    }

    @Test
    void inputsOfRequestsComeBackAsTheyWere() throws IOException {
        TypeSerializer<RequestInput> serializer = serializer(RequestInput.class);
        List<RequestScript> scripts =
                RandomClients.scripts(RandomEngine.script(1, 400).told(), 1);
        for (RequestScript script : scripts) {
            for (RequestInput input : script.inputs()) {
                RequestInput back = backAndForth(serializer, input);
                // Tokens and facts stay packed until they are asked for, and may travel on as they are.
                assertThat(back)
                        .usingRecursiveComparison()
                        .ignoringFields("tokens", "fact", "packed", "packedFrom", "packedTo", "packedFact")
                        .isEqualTo(input);
                for (RequestInput arrived : List.of(back, backAndForth(serializer, back))) {
                    assertThat(said(arrived.tokens())).isEqualTo(said(input.tokens()));
                    assertThat(arrived.fact())
                            .usingRecursiveComparison()
                            .ignoringFields("packedName", "packedNameLength")
                            .isEqualTo(input.fact());
                }
            }
        }
    }

    @Test
    void recordsAndArchiveRowsComeBackAlsoWhereTheyAreLargerThanTheViewTheyAreCopiedInto() throws IOException {
        for (EventKind kind : EventKind.values()) {
            LoggedEvent event = new LoggedEvent(EventFixtures.header(3), EventFixtures.full(kind));
            RawRecord record = RawRecord.of(EventCodec.encode(event), "log", 7);
            assertThat(backAndForth(serializer(RawRecord.class), record)).isEqualTo(record);
            RawArchiveRow row = new RawArchiveRow(kind.wireName(), event, true);
            assertThat(backAndForth(serializer(RawArchiveRow.class), row)).isEqualTo(row);
        }
    }

    @Test
    void anOpenBatchGrowsAfterItCameBack() throws IOException {
        TokenRow row = new TokenRow();
        row.tokenIndex = 7;
        row.gapNanos = TokenRow.ABSENT;
        TokenBatch open = new TokenBatch();
        open.add(row);
        TokenBatch back = backAndForth(serializer(TokenBatch.class), open);
        row.tokenIndex = 8;
        back.add(row);

        assertThat(back.count).isEqualTo(2);
        assertThat(back.rowsTo - back.rowsFrom).isEqualTo(2 * open.rowsTo);
        row.read(back.rows, back.rowsFrom);
        assertThat(row.tokenIndex).isEqualTo(7);
    }

    @Test
    void aSerializersCopyIsOneOfItsOwn() {
        TokenBatch open = new TokenBatch();
        TokenBatch copy = serializer(TokenBatch.class).copy(open);
        open.add(new TokenRow());

        assertThat(copy.count).isZero();
        assertThat(copy.rowsTo).isZero();
    }

    private static List<String> said(@Nullable TokenBatch batch) {
        Told told = new Told();
        if (batch != null) {
            told.tokens(batch);
        }
        return told.said();
    }

    private static <T> TypeSerializer<T> serializer(Class<T> type) {
        SerializerConfigImpl config = new SerializerConfigImpl();
        config.setGenericTypes(false);
        return TypeInformation.of(type).createSerializer(config);
    }

    private static <T> T backAndForth(TypeSerializer<T> serializer, T value) throws IOException {
        DataOutputSerializer first = new DataOutputSerializer(64);
        serializer.serialize(value, first);
        // As between two machines: copied from view to view, read by another instance.
        DataOutputSerializer second = new DataOutputSerializer(64);
        serializer.copy(new DataInputDeserializer(first.getCopyOfBuffer()), second);
        assertThat(second.getCopyOfBuffer()).isEqualTo(first.getCopyOfBuffer());
        return serializer.duplicate().deserialize(new DataInputDeserializer(second.getCopyOfBuffer()));
    }
}
