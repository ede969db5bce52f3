package io.tokenstair.collect.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tokenstair.collect.Imported;
import io.tokenstair.collect.importer.ImportException;
import io.tokenstair.event.EngineConfigured;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.event.StepCompleted;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CsvImportTest {
    @TempDir
    Path folder;

    private Imported imported(List<String> map, String where, String... lines) throws ImportException {
        return Imported.file(
                listener -> new CsvImport(CsvMap.parse(map, where, "e"), Imported.LIMITS, listener),
                folder,
                "t.csv",
                lines);
    }

    @Test
    void aRowIsAReadingOfTheEngine() throws Exception {
        Imported imported = imported(
                List.of("time=t:s", "running=running", "kvUsed=kv_cache_pct:percent"),
                null,
                "t,prompt_throughput,running,kv_cache_pct",
                "1.0,3392.0,5,13.22",
                "2.0,0,16,");

        assertThat(imported.all(MetricSampled.class))
                .extracting(sample -> sample.name() + " " + sample.sampledValue())
                .containsExactly(
                        "engine:requests_running 5.0",
                        "engine:kv_cache_used_ratio 0.1322",
                        "engine:requests_running 16.0");
        assertThat(Imported.clockNanos(imported.events().get(2))).isEqualTo(2_000_000_000L);
        assertThat(imported.summary().line()).isEqualTo("read 2, accepted 2, rejected 0");
    }

    @Test
    void aFileThatASpreadsheetWroteIsTheSame() throws Exception {
        Imported imported = imported(
                List.of("time=t:s", "running=running", "kvUsed=kv_cache_pct:percent"),
                null,
                "\ufeff\"kv_cache_pct\",t,\"other, too\",running\r",
                "13.22,1.0,\"a, b\",\"5\"\r",
                ",2.0,,16\r",
                "1013,3.0,,1\r",
                "50,inf,,1\r");

        assertThat(imported.all(MetricSampled.class))
                .extracting(sample -> sample.name() + " " + sample.sampledValue())
                .contains("engine:requests_running 5.0", "engine:requests_running 16.0");
        assertThat(imported.summary().line()).isEqualTo("read 4, accepted 2, rejected 2");
    }

    @Test
    void theLimitOfSequencesIsSaidBeforeTheFirstRow() throws Exception {
        Imported imported = Imported.file(
                listener -> new CsvImport(
                        CsvMap.parse(List.of("time=t:s", "running=running"), null, "e"),
                        128,
                        Imported.LIMITS,
                        listener),
                folder,
                "t.csv",
                "t,running",
                "1.0,5");

        assertThat(imported.only(EngineConfigured.class).maxSequencesCount()).isEqualTo(128);
        assertThat(imported.events().get(0).event()).isInstanceOf(EngineConfigured.class);
        assertThat(imported.summary().line()).isEqualTo("read 1, accepted 1, rejected 0");
    }

    @Test
    void aRowIsAStepAndStepsFollowOneAnother() throws Exception {
        Imported imported = imported(
                List.of("stepNanos=time_us:us", "paddedBatch=tokens", "batch=tokens"),
                "layer=gate_up_proj",
                "layer,tokens,time_us",
                "act_fn,1,2.592",
                "gate_up_proj,256,378.25",
                "gate_up_proj,272,605");
        List<StepCompleted> steps = imported.all(StepCompleted.class);

        assertThat(steps).extracting(StepCompleted::updateEndNanos).containsExactly(378_250L, 983_250L);
        assertThat(steps).extracting(StepCompleted::paddedBatchCount).containsExactly(256, 272);
        assertThat(steps).extracting(StepCompleted::stepId).containsExactly(0L, 1L);
        assertThat(steps.get(1).scheduleStartNanos()).isEqualTo(378_250L);
        assertThat(steps.get(1).kvUsedBlocksCount()).isNull();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "x,1|column t: no number",
                "-1,1|column t: time is negative",
                "1e300,1|column t: a time of more than 70 years",
                "1,Infinity|column running: no number",
                "1,1.5|running: 1.5 is no whole number",
                "1|the row has 1 columns, the header more",
                "0,1|the time goes back: rows must be in order"
            })
    void aRowThatCannotBeIsRefused(String row, String reason) throws Exception {
        Imported imported = imported(List.of("time=t:s", "running=running"), null, "t,running", "0.5,1", row);

        assertThat(imported.reasons()).containsExactly(reason);
    }

    @Test
    void semicolonsDecimalCommasAMarkAndFieldsOfSeveralLinesAreRead() throws Exception {
        Imported imported = imported(
                List.of("time=t:s", "running=running"),
                null,
                "\ufefft;note;running\r",
                "0,5;\"a;b\";1\r",
                "1,5;\"a",
                "b\";2\r");

        assertThat(imported.reasons()).isEmpty();
        assertThat(imported.all(MetricSampled.class))
                .extracting(MetricSampled::sampledValue)
                .containsExactly(1.0, 2.0);
    }

    @Test
    void anUnknownColumnRefusesTheFileAndSaysWhichThereAre() throws Exception {
        assertThatThrownBy(() -> imported(List.of("time=zeit:s", "running=running"), null, "t,running", "1,1"))
                .hasStackTraceContaining(
                        "the header line has no column zeit; it has running, t; name those with --map");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "time=t|--map time=t: a time needs its unit: ns, us, ms or s, as in time=t:ms",
                "kvUsed=k|--map kvUsed=k: a share needs its unit: fraction or percent, as in kvUsed=k:percent",
                "running=r|--map: name the column of stepNanos or endNanos for steps, or of time for readings of the engine",
                "running|--map running: must be FIELD=COLUMN or FIELD=COLUMN:UNIT",
                "running=r:s|--map running=r:s: the field has no unit"
            })
    void aMapThatCannotBeIsOneLine(String map, String message) {
        assertThatExceptionOfType(ImportException.class)
                .isThrownBy(() -> CsvMap.parse(List.of(map), null, "e"))
                .withMessage(message);
    }
}
