package io.tokenstair.collect.events;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.collect.Imported;
import io.tokenstair.event.ChunkDelivered;
import io.tokenstair.event.ClockSampled;
import io.tokenstair.event.Event;
import io.tokenstair.event.EventKind;
import io.tokenstair.event.KvBlocksStored;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.Phase;
import io.tokenstair.event.RequestQueued;
import io.tokenstair.event.StepCompleted;
import io.tokenstair.event.StreamStalled;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EventsImportTest {
    @TempDir
    Path folder;

    private Imported lines(String... lines) {
        return Imported.lines(folder, lines);
    }

    @Test
    void aLineIsAnEventOfTheCatalogue() {
        Imported imported =
                lines("{'kind':'RequestQueued','engineId':'e','engineRequestId':'a','clockNanos':5,'promptTokens':32}"
                        .replace('\'', '"'));
        LoggedEvent queued = imported.events().get(0);

        assertThat(queued.event()).isEqualTo(new RequestQueued("e", 0, 1, "a", null, 32L, null, null));
        assertThat(queued.header().eventId()).isEqualTo("events/1/0");
        assertThat(queued.header().clockId()).isEqualTo("clock");
        assertThat(queued.header().clockNanos()).isEqualTo(5L);
        assertThat(queued.header().coarseEpochMillis()).isNull();
        assertThat(imported.summary().line()).isEqualTo("read 1, accepted 1, rejected 0");
    }

    @Test
    void rowsNameRequestsAndHandlesAreMadeForThem() {
        Imported imported = lines(
                "{'kind':'RequestQueued','engineId':'e','engineRequestId':'a','clockNanos':0}".replace('\'', '"'),
                ("{'kind':'StepCompleted','engineId':'e','stepId':0,'updateEndNanos':20,'rows':["
                                + "{'engineRequestId':'a','contextTokens':33,'phase':'prefill','scheduledTokens':32,'tokenCount':1,'firstTokenIndex':0},"
                                + "{'engineRequestId':'b','contextTokens':9}]}")
                        .replace('\'', '"'));
        StepCompleted step = imported.only(StepCompleted.class);

        assertThat(step.rows().requestHandle(0)).isEqualTo(1);
        assertThat(step.rows().requestHandle(1)).isEqualTo(2);
        assertThat(step.rows().phaseCode(0)).isEqualTo(Phase.PREFILL.code());
        assertThat(step.rows().phaseCode(1)).isEqualTo(Phase.DECODE.code());
        assertThat(step.rows().tokenCount(1)).isEqualTo(1);
        assertThat(step.announcements())
                .extracting(announced -> announced.engineRequestId())
                .containsExactly("b");
        assertThat(imported.events().get(1).header().clockNanos()).isEqualTo(20L);
    }

    @Test
    void defaultsHoldForTheLinesAfterThem() {
        Imported imported = lines(
                "{'defaults':{'engineId':'e','clockId':'mono','epochMillisAtClockZero':1790000000000}}"
                        .replace('\'', '"'),
                "{'kind':'StreamStalled','stallKind':'device-sync','startNanos':'12ms','endNanos':'0.5s'}"
                        .replace('\'', '"'),
                "{'defaults':{'clockId':null}}".replace('\'', '"'),
                "{'kind':'StreamStalled','stallKind':'copy','startNanos':1,'endNanos':2,'coarseEpochMillis':null}"
                        .replace('\'', '"'));
        LoggedEvent first = imported.events().get(0);

        assertThat(((StreamStalled) first.event()).endNanos()).isEqualTo(500_000_000L);
        assertThat(first.header().clockId()).isEqualTo("mono");
        assertThat(first.header().clockNanos()).isEqualTo(500_000_000L);
        assertThat(first.header().coarseEpochMillis()).isEqualTo(1_790_000_000_500L);
        assertThat(imported.events()).hasSize(2);
        assertThat(imported.all(StreamStalled.class))
                .extracting(StreamStalled::engineId)
                .containsOnly("e");
        assertThat(imported.events())
                .extracting(event -> event.header().clockId())
                .contains("clock");
    }

    @Test
    void eventsComeInTheOrderOfTheirEventTimeAndKeepWhatTheirHeaderSays() {
        Imported imported = lines(
                "{'kind':'IdAliased','requestId':'r','alias':'x','aliasOrigin':'o','coarseEpochMillis':20,'sequence':7}"
                        .replace('\'', '"'),
                "{'kind':'IdAliased','requestId':'r','alias':'y','aliasOrigin':'o','coarseEpochMillis':10}"
                        .replace('\'', '"'),
                "{'kind':'IdAliased','requestId':'r','alias':'z','aliasOrigin':'o'}".replace('\'', '"'));

        assertThat(imported.events())
                .extracting(event -> event.header().sequence())
                .containsExactly(8L, 7L, 9L);
    }

    @Test
    void chunksAndHashesAreTakenAsTheyAre() {
        Imported imported = lines(
                ("{'kind':'ChunkDelivered','observer':'client','requestId':'r','chunks':["
                                + "{'chunkIndex':0,'arrivedNanos':5},{'chunkIndex':1,'firstTokenIndex':0,'arrivedNanos':'1ms','finish':'stop'}]}")
                        .replace('\'', '"'),
                "{'kind':'KvBlocksStored','engineId':'e','medium':'GPU','blockHashes':[18446744073709551615,-2]}"
                        .replace('\'', '"'),
                "{'kind':'ClockSampled','localClockId':'a','remoteClockId':'b','beforeNanos':1,'remoteNanos':9,'afterNanos':3}"
                        .replace('\'', '"'));

        assertThat(imported.only(ChunkDelivered.class).chunks())
                .extracting(chunk -> chunk.tokenCount())
                .containsExactly(0, 1);
        assertThat(imported.only(KvBlocksStored.class).blockHashes()).containsExactly(-1L, -2L);
        assertThat(imported.only(ClockSampled.class).remoteNanos()).isEqualTo(9L);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{'kind':'RequestQeued'}|unknown kind RequestQeued; did you mean RequestQueued?; kinds are those of the event catalogue",
                "{'clockNanos':1}|field kind: missing",
                "{'kind':'StepCompleted','engineId':'e'}|StepCompleted needs the field stepId",
                "{'kind':'StepCompleted','engineId':'e','stepID':1}|unknown field stepID of StepCompleted; did you mean stepId?",
                "{'kind':'RequestFinished','engineId':'e','engineRequestId':'a','endReason':3}|field endReason: must be a text in quotes",
                "{'kind':'StreamStalled','engineId':'e','stallKind':'x','startNanos':1.5,'endNanos':2}|field startNanos: must be a whole number of ns, or a text with a unit such as \"12.5ms\"",
                "{'kind':'StreamStalled','engineId':'e','stallKind':'x','startNanos':'5 parsecs','endNanos':2}|field startNanos: must be a number with one of the units ns, us, ms, s, min, h, such as \"12.5ms\"",
                "{'kind':'StreamStalled','engineId':'e','stallKind':'x','startNanos':'9999999999h','endNanos':2}|field startNanos: must be a whole number of ns that fits 64 bits",
                "{'kind':'StepCompleted','engineId':'e','stepId':0,'updateEndNanos':1,'rows':[{'engineRequestId':'a','contextTokens':-1}]}|field rows[0].contextTokens: a count must lie between 0 and 2147483647, not -1",
                "{'kind':'StepCompleted','engineId':'e','stepId':0,'updateEndNanos':1,'rows':[{'contextTokens':1}]}|a row needs the field engineRequestId, or requestHandle",
                "{'kind':'StepCompleted','engineId':'e','stepId':0,'updateEndNanos':1,'rows':[{'engineRequestId':'a','contextTokens':1,'phase':'thinking'}]}|field phase: must be one of decode, prefill, recompute, resumed",
                "{'defaults':{'engineID':'e'}}|unknown field engineID in defaults; did you mean engineId?",
                "[1]|not a JSON object"
            })
    void aLineThatIsNoEventIsRefusedWithItsReason(String line, String reason) {
        Imported imported = lines(line.replace('\'', '"'));

        assertThat(imported.reasons()).containsExactly(reason);
        assertThat(imported.summary().line()).isEqualTo("read 1, accepted 0, rejected 1");
    }

    @Test
    void aRefusedLineLeavesNoTrace() {
        Imported imported = lines(
                ("{'kind':'StepCompleted','engineId':'e','stepId':0,'updateEndNanos':20,'rows':["
                                + "{'engineRequestId':'lost','contextTokens':33},{'contextTokens':9}]}")
                        .replace('\'', '"'),
                "{'kind':'RequestQueued','engineId':'e','engineRequestId':'a','clockNanos':0}".replace('\'', '"'));

        assertThat(imported.only(RequestQueued.class).requestHandle()).isEqualTo(1);
    }

    @Test
    void everyKindCanBeWritten() {
        assertThat(Event.class.getPermittedSubclasses()).hasSize(EventKind.values().length);
        for (EventKind kind : EventKind.values()) {
            String reason =
                    lines("{\"kind\":\"" + kind.catalogName() + "\"}").reasons().toString();
            assertThat(reason).as(kind.catalogName()).doesNotContain("unknown kind");
            delete(folder.resolve("log"));
        }
        assertThat(List.of(EventKind.values())).isNotEmpty();
    }

    private static void delete(Path log) {
        try (var files = java.nio.file.Files.walk(log)) {
            files.sorted(java.util.Comparator.reverseOrder())
                    .forEach(path -> path.toFile().delete());
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
