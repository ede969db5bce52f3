package io.tokenstair.collect.vllm;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.collect.Imported;
import io.tokenstair.collect.importer.LayerCount;
import io.tokenstair.event.Chunk;
import io.tokenstair.event.ChunkDelivered;
import io.tokenstair.event.EventKind;
import io.tokenstair.event.Finish;
import io.tokenstair.event.IdAliased;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.RequestCompleted;
import io.tokenstair.event.RequestReceived;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClientLayerTest {
    private static final long WALL = 1_795_967_275_000_000_000L;

    @TempDir
    Path folder;

    private Imported read(String... lines) {
        for (int i = 0; i < lines.length; i++) {
            lines[i] = lines[i].replace('\'', '"');
        }
        return Imported.of(Imported.folder(folder.resolve("run"), "client.jsonl", lines), folder.resolve("log"));
    }

    private static String request(String id, int sentMillis, int endMillis, String rest) {
        return "{'type':'request','req':'" + id + "','role':'load','send_mono_ns':" + sentMillis * 1_000_000L
                + ",'send_wall_ns':" + (WALL + sentMillis * 1_000_000L) + ",'end_mono_ns':" + endMillis * 1_000_000L
                + rest + "}";
    }

    private static String event(String id, int number, int millis, String rest) {
        return "{'type':'event','req':'" + id + "','ev':" + number + ",'mono_ns':" + millis * 1_000_000L + ",'wall_ns':"
                + (WALL + millis * 1_000_000L) + ",'read':0,'bytes':300" + rest + "}";
    }

    private static String token(String id, int number, int millis) {
        return event(
                id, number, millis, ",'choice':0,'tok':" + number + ",'ntok':1,'completion_tokens':" + (number + 1));
    }

    @Test
    void aRequestBecomesItsReceiptItsAliasAndItsEnd() {
        Imported imported = read(request(
                "press-1",
                10,
                95,
                ",'trace_id':'c8d94a91c45961866637b00ecd69d1f0','parent_span_id':'6b54cdb90baf60b9','prompt_tokens':16,"
                        + "'max_tokens':8,'n':2,'priority':5,'status':200,'headers_mono_ns':20000000,'outcome':'complete',"
                        + "'id':'cmpl-press-1','events':10,'tokens':{'0':8,'1':7}"));
        assertThat(imported.only(RequestReceived.class))
                .isEqualTo(new RequestReceived(
                        "client",
                        "press-1",
                        "c8d94a91c45961866637b00ecd69d1f0",
                        "6b54cdb90baf60b9",
                        null,
                        null,
                        5,
                        16L,
                        8L,
                        2,
                        false));
        assertThat(imported.only(RequestCompleted.class))
                .isEqualTo(
                        new RequestCompleted("client", "press-1", "complete", 200, null, 10L, 15L, 20_000_000L, null));
        assertThat(imported.only(IdAliased.class)).isEqualTo(new IdAliased("press-1", "cmpl-press-1", "stream-id"));
        List<LoggedEvent> events = imported.from("vllm-client");
        assertThat(events.get(0).header().clockNanos()).isEqualTo(10_000_000);
        assertThat(events.get(2).header().clockNanos()).isEqualTo(95_000_000);
        assertThat(events.get(2).header().coarseEpochMillis()).isEqualTo(WALL / 1_000_000 + 95);
    }

    @Test
    void outcomesAreTranslated() {
        Imported imported = read(
                request("a", 1, 9, ",'status':200,'outcome':'client_closed','close_mono_ns':8000000"),
                request("b", 2, 9, ",'status':200,'outcome':'client_cancelled','close_mono_ns':8500000"),
                request(
                        "c",
                        3,
                        9,
                        ",'status':400,'outcome':'http_error','error_type':'BadRequestError','max_tokens':-5,'tokens':{}"),
                request("d", 4, 9, ",'outcome':'ServerDisconnectedError'"));
        assertThat(imported.all(RequestCompleted.class))
                .containsExactlyInAnyOrder(
                        new RequestCompleted("client", "a", "client-closed", 200, null, null, null, null, 8_000_000L),
                        new RequestCompleted("client", "b", "client-closed", 200, null, null, null, null, 8_500_000L),
                        new RequestCompleted("client", "c", "http-error", 400, "BadRequestError", null, 0L, null, null),
                        new RequestCompleted(
                                "client", "d", "failed", null, "ServerDisconnectedError", null, null, null, null));
        assertThat(imported.all(RequestReceived.class).get(2).maxTokens()).isEqualTo(-5);
    }

    @Test
    void warmUpsAreMarked() {
        Imported imported = read(request("w", 1, 9, ",'outcome':'complete'").replace("'load'", "'warmup'"));
        assertThat(imported.only(RequestReceived.class).warmup()).isTrue();
    }

    @Test
    void sixteenChunksTravelTogether() {
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            lines.add(token("a", i, 10 + i));
        }
        Imported imported = read(lines.toArray(String[]::new));
        List<ChunkDelivered> records = imported.all(ChunkDelivered.class);
        assertThat(records.stream().map(record -> record.chunks().size())).containsExactly(16, 16, 8);
        assertThat(records.get(1).chunks().get(0)).isEqualTo(new Chunk(0, 16, 16, 1, 300, 26_000_000L, Finish.NONE));
        assertThat(imported.from("vllm-client").get(1).header().clockNanos()).isEqualTo(26_000_000);
        assertThat(imported.summary().read()).isEqualTo(40);
    }

    @Test
    void aRecordSpansAtMostATenthOfASecond() {
        Imported imported = read(token("a", 0, 10), token("a", 1, 110), token("a", 2, 111), token("a", 3, 400));
        assertThat(imported.all(ChunkDelivered.class).stream()
                        .map(record -> record.chunks().size()))
                .containsExactly(2, 1, 1);
    }

    @Test
    void requestsMayStandInAnyOrderInTheFile() {
        Imported imported = read(
                token("late", 0, 500),
                request("late", 400, 600, ",'outcome':'complete'"),
                request("early", 10, 600, ",'outcome':'complete'"),
                token("early", 0, 20),
                token("early", 1, 520));
        assertThat(imported.from("vllm-client").stream().map(logged -> Imported.clockNanos(logged) / 1_000_000))
                .containsExactly(10L, 20L, 400L, 500L, 520L, 600L, 600L);
        assertThat(imported.from("vllm-client").stream()
                        .map(logged -> logged.header().sequence()))
                .containsExactly(0L, 1L, 2L, 3L, 4L, 5L, 6L);
    }

    @Test
    void usageAndEndOfAStreamAreReadButCarryNoTokens() {
        Imported imported = read(
                event("a", 0, 10, ",'choice':1,'tok':0,'ntok':4,'finish':'length'"),
                event("a", 1, 11, ",'choice':0,'tok':0,'ntok':0,'finish':'stop'"),
                event("a", 2, 12, ",'final_usage':{'completion_tokens':4}"),
                event("a", 3, 13, ",'done':true"),
                event("a", 4, 14, ",'error_type':'InternalServerError'"));
        assertThat(imported.only(ChunkDelivered.class).chunks())
                .containsExactly(
                        new Chunk(1, 0, 0, 4, 300, 10_000_000L, Finish.LENGTH),
                        new Chunk(0, 1, null, 0, 300, 11_000_000L, Finish.STOP));
        assertThat(imported.layer("client")).isEqualTo(new LayerCount("client", 5, 5, 0, false));
    }

    @Test
    void wrongLinesAreRefusedAndTheRestIsKept() {
        Imported imported = read(
                token("a", 0, 10),
                event("a", 1, 11, ""),
                event("a", 2, 12, ",'choice':0,'tok':2147483647,'ntok':1"),
                event("a", 3, 13, ",'choice':0,'tok':0.5,'ntok':1"),
                event("a", 4, 14, ",'choice':-1,'tok':0,'ntok':1"),
                request("b", 20, 10, ",'outcome':'complete'"),
                request("c", 20, 30, ",'trace_id':'nothex','outcome':'complete'"),
                request("d", 20, 30, ""),
                request("", 20, 30, ",'outcome':'complete'"),
                "{'type':'response'}",
                "[1,2]");
        assertThat(imported.reasons())
                .containsExactlyInAnyOrder(
                        "field choice: missing, and the event is neither the usage, the end nor an error",
                        "field tok: too large, 2147483647",
                        "field tok: not a whole number of 64 bits",
                        "field choice: a count must lie between 0 and 2147483647, not -1",
                        "field end_mono_ns: 10000000 lies before send_mono_ns, 20000000",
                        "field trace_id: not 32 lower-case hex digits",
                        "field outcome: missing",
                        "field req: empty",
                        "field type: neither request nor event",
                        "not a JSON object");
        assertThat(imported.events().stream()
                        .filter(logged -> logged.event().kind() != EventKind.REJECTED)
                        .count())
                .isEqualTo(1);
    }

    @Test
    void controlCharactersInIdsAreKeptRaw() {
        Imported imported = read(request("a\\u001b[31m\\u0000b", 1, 2, ",'outcome':'complete'"));
        assertThat(imported.only(RequestReceived.class).requestId()).isEqualTo("a\u001b[31m\u0000b");
    }

    @Test
    void finishesAreTranslated() {
        assertThat(ClientLayer.finish(null)).isEqualTo(Finish.NONE);
        assertThat(ClientLayer.finish("abort")).isEqualTo(Finish.ABORTED);
        assertThat(ClientLayer.finish("error")).isEqualTo(Finish.ERROR);
        assertThat(ClientLayer.finish("repetition")).isEqualTo(Finish.OTHER);
    }
}
