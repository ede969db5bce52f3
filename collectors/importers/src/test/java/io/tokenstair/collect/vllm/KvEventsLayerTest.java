package io.tokenstair.collect.vllm;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.collect.Imported;
import io.tokenstair.collect.importer.LayerCount;
import io.tokenstair.event.CollectorGap;
import io.tokenstair.event.KvBlocksEvicted;
import io.tokenstair.event.KvBlocksStored;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KvEventsLayerTest {
    /** Map form, as vLLM 0.24 and later write it: stored, removed, cleared. */
    private static final String MAPS =
            "93cb41daac4ee0100000938ba474797065ab426c6f636b53746f726564ac626c6f636b5f686173686573"
                    + "91cf8000000000000005b1706172656e745f626c6f636b5f68617368c0a9746f6b656e5f696473940b0c0d0eaa626c6f636b5f73697a6504"
                    + "a76c6f72615f6964c0a66d656469756da3475055a96c6f72615f6e616d65c0aa65787472615f6b65797391c0a967726f75705f69647800"
                    + "b26b765f63616368655f737065635f6b696e64ae66756c6c5f617474656e74696f6e84a474797065ac426c6f636b52656d6f766564"
                    + "ac626c6f636b5f686173686573914da66d656469756da3475055a967726f75705f6964780081a474797065b0416c6c426c6f636b73436c65"
                    + "6172656400";

    /** Array form, as vLLM up to 0.23 writes it: stored, removed, cleared. */
    private static final String ARRAYS =
            "93cb41daac4ee0100000939aab426c6f636b53746f726564916564940102030404c0a3475055c0c0c094"
                    + "ac426c6f636b52656d6f766564914da3475055c091b0416c6c426c6f636b73436c656172656400";

    /** {@code [1.5, [], rank]}. */
    private static String empty(String rank) {
        return "93cb3ff8000000000000" + "90" + rank;
    }

    private static final long WALL = 1_795_967_275_000_000_000L;

    @TempDir
    Path folder;

    private static String message(long sequence, int millis, String payload) {
        return line(millis, "\"6b76\",\"" + String.format("%016x", sequence) + "\",\"" + payload + "\"");
    }

    private static String line(int millis, String frames) {
        return "{\"recv_mono_ns\":" + millis * 1_000_000L + ",\"recv_wall_ns\":" + (WALL + millis * 1_000_000L)
                + ",\"frames\":[" + frames + "]}";
    }

    private Imported read(String... lines) {
        Path run = Imported.folder(folder.resolve("run"), "kv_events.jsonl", lines);
        return Imported.of(run, folder.resolve("log"));
    }

    @Test
    void theMapFormIsRead() {
        Imported imported = read(message(0, 10, MAPS));
        assertThat(imported.only(KvBlocksStored.class))
                .isEqualTo(new KvBlocksStored(
                        "vllm-0",
                        0,
                        0L,
                        1_790_000_000_250_000_000L,
                        0,
                        "GPU",
                        List.of(Long.parseUnsignedLong("9223372036854775813")),
                        null,
                        4,
                        4L));
        assertThat(imported.all(KvBlocksEvicted.class))
                .containsExactly(
                        new KvBlocksEvicted(
                                "vllm-0", 0, 0L, 1_790_000_000_250_000_000L, 1, "GPU", List.of(77L), false, null),
                        new KvBlocksEvicted(
                                "vllm-0", 0, 0L, 1_790_000_000_250_000_000L, 2, null, List.of(), true, null));
    }

    @Test
    void theArrayFormIsRead() {
        Imported imported = read(message(0, 10, ARRAYS));
        assertThat(imported.only(KvBlocksStored.class))
                .isEqualTo(new KvBlocksStored(
                        "vllm-0", 0, 0L, 1_790_000_000_250_000_000L, 0, "GPU", List.of(101L), 100L, 4, 4L));
        assertThat(imported.all(KvBlocksEvicted.class))
                .containsExactly(
                        new KvBlocksEvicted(
                                "vllm-0", 0, 0L, 1_790_000_000_250_000_000L, 1, "GPU", List.of(77L), false, null),
                        new KvBlocksEvicted(
                                "vllm-0", 0, 0L, 1_790_000_000_250_000_000L, 2, null, List.of(), true, null));
    }

    @Test
    void theFirstArrayFormKnowsNeitherMediumNorRank() {
        // [1.5, [["BlockStored", [7], nil, [1,2], 2, nil], ["BlockRemoved", [7]]]]
        Imported imported = read(message(
                0,
                10,
                "92cb3ff80000000000009296ab426c6f636b53746f7265649107c092010202c092ac426c6f636b52656d6f7665649107"));
        assertThat(imported.only(KvBlocksStored.class).medium()).isNull();
        assertThat(imported.only(KvBlocksStored.class).dpRank()).isZero();
        assertThat(imported.only(KvBlocksEvicted.class).blockHashes()).containsExactly(7L);
    }

    @Test
    void aDigestBecomesItsLastEightBytes() {
        // [1.5, [["BlockRemoved", [bin of 32 bytes]]], 0]
        String digest = "00".repeat(24) + "8102030405060708";
        Imported imported =
                read(message(0, 10, "93cb3ff80000000000009192ac426c6f636b52656d6f76656491c420" + digest + "00"));
        assertThat(imported.only(KvBlocksEvicted.class).blockHashes()).containsExactly(0x8102030405060708L);
    }

    @Test
    void missingMessagesAreAGapUnlessTheReplayHasThem() {
        Path run = Imported.folder(
                folder.resolve("run"),
                "kv_events.jsonl",
                message(0, 10, MAPS),
                message(3, 20, ARRAYS),
                message(7, 30, ARRAYS));
        Imported.folder(
                run,
                "kv_replay.jsonl",
                line(100, "\"\",\"6b76\",\"0000000000000000\",\"" + MAPS + "\""),
                line(101, "\"\",\"6b76\",\"0000000000000001\",\"" + MAPS + "\""),
                // Publishers before July 2026 answer without the topic.
                line(102, "\"\",\"0000000000000002\",\"" + MAPS + "\""),
                line(103, "\"\",\"6b76\",\"0000000000000005\",\"" + MAPS + "\""),
                line(104, "\"\",\"\",\"ffffffffffffffff\",\"\""));
        Imported imported = Imported.of(run, folder.resolve("log"));
        assertThat(imported.all(KvBlocksStored.class).stream().map(KvBlocksStored::batchSequence))
                .containsExactly(0L, 3L, 7L, 1L, 2L, 5L);
        assertThat(imported.all(CollectorGap.class))
                .containsExactly(new CollectorGap("kv_events.jsonl", 4, 4), new CollectorGap("kv_events.jsonl", 6, 6));
        assertThat(imported.layer("kv-events")).isEqualTo(new LayerCount("kv-events", 6, 6, 0, false));
    }

    @Test
    void aReplayAloneServesToo() {
        Path run = Imported.folder(
                folder.resolve("run"),
                "kv_replay.jsonl",
                line(100, "\"\",\"6b76\",\"0000000000000000\",\"" + MAPS + "\""),
                line(104, "\"\",\"\",\"ffffffffffffffff\",\"\""));
        Imported imported = Imported.of(run, folder.resolve("log"));
        assertThat(imported.layer("kv-events")).isEqualTo(new LayerCount("kv-events", 1, 1, 0, false));
        assertThat(imported.all(KvBlocksStored.class)).hasSize(1);
    }

    @Test
    void ranksNumberTheirMessagesApart() {
        Imported imported = read(message(0, 10, empty("00")), message(0, 11, empty("01")), message(2, 12, empty("01")));
        assertThat(imported.summary().rejected()).isZero();
        assertThat(imported.only(CollectorGap.class)).isEqualTo(new CollectorGap("kv_events.jsonl rank 1", 1, 1));
    }

    @Test
    void wrongMessagesAreRefused() {
        Imported imported = read(
                message(0, 10, empty("00")),
                message(0, 11, empty("00")),
                line(12, "\"6b76\",\"0000000000000001\""),
                line(13, "\"6b76\",\"1\",\"" + empty("00") + "\""),
                message(1, 14, "zz"),
                message(2, 15, empty("00").substring(0, 16)),
                message(3, 16, empty("00") + "00"),
                message(4, 17, "c0"),
                // ["BlockVanished"]
                message(5, 18, "93cb3ff80000000000009191ad426c6f636b56616e697368656400"),
                // A claim of 2^32 - 1 elements in a short message.
                message(6, 19, "93cb3ff8000000000000ddffffffff"),
                // A claim of a digest of 2^32 - 1 bytes.
                message(7, 20, "93cb3ff80000000000009192ac426c6f636b52656d6f76656491c6ffffffff"),
                message(8, 21, "93cb7ff800000000000090" + "00"));
        assertThat(imported.layer("kv-events").rejected()).isEqualTo(11);
        assertThat(imported.layer("kv-events").accepted()).isEqualTo(1);
        assertThat(imported.reasons())
                .contains(
                        "field frames[1]: message 0 was read before; one capture holds one engine start",
                        "field frames: 2 frames, a message has 3: topic, sequence, payload",
                        "field frames[1]: the sequence is not 8 bytes in hex, at most 2^63 - 1",
                        "field frames[2]: not hex",
                        "field frames: not valid msgpack (cut?)",
                        "field frames: bytes after the end of the payload",
                        "field frames: the payload is not an array",
                        "field frames: an event that is neither BlockStored, BlockRemoved nor AllBlocksCleared",
                        "field frames: ts is no stamp");
    }
}
