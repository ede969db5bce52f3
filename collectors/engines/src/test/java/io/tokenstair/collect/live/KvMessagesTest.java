package io.tokenstair.collect.live;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.event.CollectorGap;
import io.tokenstair.event.Event;
import io.tokenstair.event.KvBlocksEvicted;
import io.tokenstair.event.KvBlocksStored;
import io.tokenstair.event.Rejected;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;

class KvMessagesTest {
    // The bytes of vLLM's two wire forms as its own library writes them.
    private static final byte[] MAPS = HexFormat.of()
            .parseHex(
                    "93cb41daac4ee0100000938ba474797065ab426c6f636b53746f726564ac626c6f636b5f68617368657391cf8000000000000005"
                            + "b1706172656e745f626c6f636b5f68617368c0a9746f6b656e5f696473940b0c0d0eaa626c6f636b5f73697a6504a76c6f72615f6964"
                            + "c0a66d656469756da3475055a96c6f72615f6e616d65c0aa65787472615f6b65797391c0a967726f75705f69647800b26b765f63616368"
                            + "655f737065635f6b696e64ae66756c6c5f617474656e74696f6e84a474797065ac426c6f636b52656d6f766564ac626c6f636b5f68617368"
                            + "6573914da66d656469756da3475055a967726f75705f6964780081a474797065b0416c6c426c6f636b73436c656172656400");
    private static final byte[] ARRAYS = HexFormat.of()
            .parseHex(
                    "93cb41daac4ee0100000939aab426c6f636b53746f726564916564940102030404c0a3475055c0c0c094ac426c6f636b52656d6f766564"
                            + "914da3475055c091b0416c6c426c6f636b73436c656172656400");
    private static final byte[] END = HexFormat.of().parseHex("ffffffffffffffff");
    private static final byte[] NOTHING = new byte[0];
    private static final byte[] TOPIC = "kv".getBytes(StandardCharsets.UTF_8);

    private final List<Event> told = new ArrayList<>();
    private final KvEvictionReasons reasons = new KvEvictionReasons();
    private final KvMessages messages = messages(rank -> null);

    private KvMessages messages(KvMessages.Reasons known) {
        return new KvMessages(
                "tcp://engine:5557",
                "vllm-0",
                "vllm-kv/0",
                "monotonic@here",
                (id, clock, nanos, event) -> told.add(event),
                known);
    }

    private static List<byte[]> live(long sequence, byte[] payload) {
        return List.of(TOPIC, ByteBuffer.allocate(8).putLong(sequence).array(), payload);
    }

    private static List<byte[]> again(long sequence, byte[] payload) {
        return List.of(NOTHING, TOPIC, ByteBuffer.allocate(8).putLong(sequence).array(), payload);
    }

    private static byte[] removed(double epochSeconds, @Nullable Integer rank, long... hashes) throws Exception {
        MessageBufferPacker out = MessagePack.newDefaultBufferPacker();
        out.packArrayHeader(rank == null ? 2 : 3).packDouble(epochSeconds).packArrayHeader(1);
        out.packMapHeader(2).packString("type").packString("BlockRemoved").packString("block_hashes");
        out.packArrayHeader(hashes.length);
        for (long hash : hashes) {
            out.packLong(hash);
        }
        if (rank != null) {
            out.packInt(rank);
        }
        return out.toByteArray();
    }

    private <T> List<T> only(Class<T> type) {
        return told.stream().filter(type::isInstance).map(type::cast).toList();
    }

    private List<Long> sequences() {
        return only(KvBlocksEvicted.class).stream()
                .map(KvBlocksEvicted::batchSequence)
                .toList();
    }

    @Test
    void bothWireFormsSayTheSame() {
        messages.published(live(0, MAPS), 1);
        messages.wanted(false, 1);
        messages.published(live(1, ARRAYS), 2);
        messages.settle(3);

        assertThat(only(KvBlocksStored.class))
                .satisfiesExactly(
                        maps -> {
                            assertThat(maps.blockHashes()).containsExactly(0x8000000000000005L);
                            assertThat(maps.storedTokens()).isEqualTo(4);
                            assertThat(maps.medium()).isEqualTo("GPU");
                        },
                        arrays -> {
                            assertThat(arrays.blockHashes()).containsExactly(101L);
                            assertThat(arrays.parentBlockHash()).isEqualTo(100);
                        });
        assertThat(only(KvBlocksEvicted.class))
                .extracting(KvBlocksEvicted::allCleared)
                .containsExactly(false, true, false, true);
        assertThat(only(Rejected.class)).isEmpty();
    }

    @Test
    void whatIsMissingIsAskedForAgainAndTakenInItsPlace() throws Exception {
        messages.published(live(0, removed(1, 0, 1)), 1);
        assertThat(messages.wanted(true, 1)).isZero();
        messages.replayed(again(0, removed(1, 0, 1)), 2);
        messages.replayed(List.of(NOTHING, NOTHING, END, NOTHING), 2);
        messages.published(live(3, removed(4, 0, 4)), 3);
        assertThat(messages.wanted(true, 3)).isEqualTo(1);
        assertThat(messages.wanted(true, 3)).isEqualTo(-1);
        // As publishers before 2026-07 answer: without the topic.
        messages.replayed(List.of(NOTHING, ByteBuffer.allocate(8).putLong(1).array(), removed(2, 0, 2)), 4);
        messages.replayed(again(2, removed(3, 0, 3)), 4);
        messages.replayed(again(3, removed(4, 0, 4)), 4);
        assertThat(messages.replayed(List.of(NOTHING, END, NOTHING), 4)).isTrue();
        messages.settle(5);

        assertThat(sequences()).containsExactly(0L, 1L, 2L, 3L);
        assertThat(only(CollectorGap.class)).isEmpty();
    }

    @Test
    void whatIsMissedWhileTheFirstReplayRunsIsAskedForAfterIt() throws Exception {
        messages.published(live(0, removed(1, 0, 1)), 1);
        assertThat(messages.wanted(true, 1)).isZero();
        messages.replayed(again(0, removed(1, 0, 1)), 2);
        messages.published(live(2, removed(3, 0, 3)), 3);
        assertThat(messages.wanted(true, 3)).isEqualTo(-1);
        messages.replayed(List.of(NOTHING, NOTHING, END, NOTHING), 4);
        assertThat(messages.wanted(true, 4)).isEqualTo(1);
        messages.replayed(again(1, removed(2, 0, 2)), 5);
        messages.replayed(List.of(NOTHING, NOTHING, END, NOTHING), 5);
        messages.settle(6);

        assertThat(sequences()).containsExactly(0L, 1L, 2L);
        assertThat(only(CollectorGap.class)).isEmpty();
    }

    @Test
    void whatThePublisherNoLongerHasIsLostAndSaidSo() throws Exception {
        messages.published(live(0, removed(1, 0, 1)), 1);
        messages.wanted(false, 1);
        messages.published(live(5, removed(6, 0, 6)), 2);
        assertThat(messages.wanted(true, 2)).isEqualTo(1);
        messages.replayed(again(4, removed(5, 0, 5)), 3);
        messages.replayed(List.of(NOTHING, NOTHING, END, NOTHING), 3);
        messages.settle(4);

        assertThat(sequences()).containsExactly(0L, 4L, 5L);
        assertThat(only(CollectorGap.class)).containsExactly(new CollectorGap("tcp://engine:5557", 1, 3));
    }

    @Test
    void aFirstNumberOfOneIsNoLossAndALaterStartWithoutReplayIsNone() throws Exception {
        messages.published(live(1, removed(1, 0, 1)), 1);
        assertThat(messages.wanted(true, 1)).isZero();
        messages.replayed(again(1, removed(1, 0, 1)), 1);
        messages.replayed(List.of(NOTHING, NOTHING, END, NOTHING), 1);
        messages.settle(2);
        assertThat(sequences()).containsExactly(1L);

        KvMessages later = messages(rank -> null);
        later.published(live(700, removed(1, 0, 1)), 1);
        later.wanted(false, 1);
        later.settle(2);
        assertThat(only(CollectorGap.class)).isEmpty();
    }

    @Test
    void anEngineThatWasStartedAnewBeginsItsNumbersAgain() throws Exception {
        for (int i = 0; i < 5; i++) {
            messages.published(live(i, removed(10 + i, 0, i)), 1);
            messages.wanted(false, 1);
        }
        // One of before, once more: it is no new start.
        messages.published(live(2, removed(12, 0, 2)), 1);
        messages.published(live(1, removed(100, 0, 77)), 2);
        messages.wanted(false, 2);
        messages.settle(3);

        assertThat(sequences()).containsExactly(0L, 1L, 2L, 3L, 4L, 1L);
        assertThat(only(CollectorGap.class)).isEmpty();
    }

    @Test
    void ranksAreEnginesOfTheirOwn() throws Exception {
        messages.published(live(0, removed(1, 3, 1)), 1);
        messages.wanted(false, 1);
        messages.settle(2);

        assertThat(only(KvBlocksEvicted.class)).singleElement().satisfies(evicted -> {
            assertThat(evicted.engineId()).isEqualTo("vllm-0-dp3");
            assertThat(evicted.dpRank()).isEqualTo(3);
        });
    }

    @Test
    void evictedBlocksWaitForTheProbeThatKnowsWhatTheyMadeRoomFor() throws Exception {
        KvMessages joined = messages(rank -> reasons);
        joined.published(live(0, removed(1, 0, 7)), 1);
        joined.wanted(false, 1);
        joined.settle(1_000);
        assertThat(told).isEmpty();
        reasons.evicted(List.of(7L), List.of(3L), List.of(-1L), "cmpl-a", "admission");
        reasons.published(0);
        joined.settle(2_000);
        assertThat(only(KvBlocksEvicted.class))
                .extracting(KvBlocksEvicted::reason)
                .containsExactly("admission");

        // A probe that is silent is not waited for longer than that.
        joined.published(live(1, removed(2, 0, 8)), 3_000);
        joined.settle(3_000 + KvMessages.MAX_WAIT_NANOS - 1);
        assertThat(only(KvBlocksEvicted.class)).hasSize(1);
        joined.settle(3_000 + KvMessages.MAX_WAIT_NANOS);
        assertThat(only(KvBlocksEvicted.class)).hasSize(2);
        assertThat(only(KvBlocksEvicted.class).get(1).reason()).isNull();
    }

    @Test
    void whatIsNoMessageIsRefused() {
        messages.published(List.of(TOPIC), 1);
        messages.published(List.of(TOPIC, new byte[3], MAPS), 1);
        messages.published(List.of(TOPIC, END, MAPS), 1);
        messages.published(live(0, new byte[] {1, 2, 3}), 1);
        messages.wanted(false, 1);

        assertThat(only(Rejected.class)).hasSize(4);
    }
}
