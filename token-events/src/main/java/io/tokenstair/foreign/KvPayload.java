package io.tokenstair.foreign;

import io.tokenstair.event.Event;
import io.tokenstair.event.KvBlocksEvicted;
import io.tokenstair.event.KvBlocksStored;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessageFormat;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessagePackException;
import org.msgpack.core.MessageUnpacker;
import org.msgpack.value.ValueType;

/**
 * The msgpack payload of one message of vLLM's KV event publisher: {@code [ts, events, rank?]}. An event is an array with its tag
 * first (up to vLLM 0.23) or a map with a key {@code type} (from 0.24 on); both are read here. Token ids are counted and dropped.
 * A block hash is an integer, or a digest of which the last 8 bytes are taken, big-endian: the integer that the engine itself makes
 * of a digest.
 * A parent of 0 is none: that is how some publishers begin a chain.
 *
 * @param epochNanos the publisher's stamp, in ns
 * @param rank data-parallel rank; absent in the oldest form
 * @param events its events, in order
 */
public record KvPayload(long epochNanos, @Nullable Integer rank, List<KvEvent> events) {
    private static final double LAST_SECOND = 9.0e9;
    private static final int MAX_DIGEST_BYTES = 1024;
    private static final int MAX_MEDIUM_CHARACTERS = 64;

    /** What happened. */
    public enum Tag {
        STORED,
        REMOVED,
        CLEARED
    }

    /**
     * One event of a message.
     *
     * @param tag what happened
     * @param hashes the blocks
     * @param parentHash hash of the block before the first; absent at the start of a chain
     * @param tokenCount token ids that the event carried; absent when it carried none
     * @param blockSizeTokens tokens per block; absent when not sent
     * @param medium where the blocks lie; absent when not sent
     */
    public record KvEvent(
            Tag tag,
            List<Long> hashes,
            @Nullable Long parentHash,
            @Nullable Long tokenCount,
            @Nullable Integer blockSizeTokens,
            @Nullable String medium) {}

    /** The data-parallel rank, 0 where the form has none. */
    public int engineRank() {
        return rank == null ? 0 : rank;
    }

    /**
     * One of its events as the catalogue has it. Of an eviction no more is said than the publisher does: the blocks.
     *
     * @param engineId the engine, one scheduler
     * @param sequence number of the message
     * @param index which of the events
     */
    public Event event(String engineId, long sequence, int index) {
        KvEvent event = events.get(index);
        if (event.tag() == Tag.STORED) {
            return new KvBlocksStored(
                    engineId,
                    engineRank(),
                    sequence,
                    epochNanos,
                    index,
                    event.medium(),
                    event.hashes(),
                    event.parentHash(),
                    event.blockSizeTokens(),
                    event.tokenCount());
        }
        return new KvBlocksEvicted(
                engineId,
                engineRank(),
                sequence,
                epochNanos,
                index,
                event.medium(),
                event.hashes(),
                event.tag() == Tag.CLEARED,
                null);
    }

    /** Reads a payload. */
    public static KvPayload parse(byte[] payload) throws ForeignFormatException {
        try (MessageUnpacker in = MessagePack.newDefaultUnpacker(payload)) {
            if (in.getNextFormat().getValueType() != ValueType.ARRAY) {
                throw refuse("the payload is not an array");
            }
            int length = in.unpackArrayHeader();
            if (length < 2) {
                throw refuse("the payload has " + length + " elements, at least 2 are needed");
            }
            double seconds = number(in);
            if (!(seconds >= 0 && seconds < LAST_SECOND)) {
                throw refuse("ts is no stamp");
            }
            List<KvEvent> events = events(in);
            Integer rank = length > 2 ? optionalInt(in, "rank") : null;
            for (int i = 3; i < length; i++) {
                in.skipValue();
            }
            if (in.hasNext()) {
                throw refuse("bytes after the end of the payload");
            }
            long whole = (long) seconds;
            return new KvPayload(
                    whole * 1_000_000_000L + Math.round((seconds - whole) * 1e9),
                    rank == null || rank < 0 ? null : rank,
                    events);
        } catch (MessagePackException | IOException e) {
            throw refuse("not valid msgpack (cut?)");
        }
    }

    private static ForeignFormatException refuse(String problem) {
        return new ForeignFormatException(problem);
    }

    private static double number(MessageUnpacker in) throws IOException, ForeignFormatException {
        ValueType type = in.getNextFormat().getValueType();
        if (type == ValueType.FLOAT) {
            return in.unpackDouble();
        }
        if (type == ValueType.INTEGER) {
            return in.unpackBigInteger().doubleValue();
        }
        throw refuse("ts is not a number");
    }

    private static List<KvEvent> events(MessageUnpacker in) throws IOException, ForeignFormatException {
        if (in.getNextFormat().getValueType() != ValueType.ARRAY) {
            throw refuse("the events are not an array");
        }
        int count = in.unpackArrayHeader();
        List<KvEvent> events = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            ValueType type = in.getNextFormat().getValueType();
            if (type == ValueType.ARRAY) {
                events.add(positional(in));
            } else if (type == ValueType.MAP) {
                events.add(named(in));
            } else {
                throw refuse("event " + i + " is neither an array nor a map");
            }
        }
        return events;
    }

    private static KvEvent positional(MessageUnpacker in) throws IOException, ForeignFormatException {
        int length = in.unpackArrayHeader();
        if (length < 1 || in.getNextFormat().getValueType() != ValueType.STRING) {
            throw refuse("an event without a tag");
        }
        Tag tag = tag(in.unpackString());
        Draft draft = new Draft();
        for (int i = 1; i < length; i++) {
            if (i == 1 && tag != Tag.CLEARED) {
                draft.hashes = hashes(in);
            } else if (i == 2 && tag == Tag.STORED) {
                draft.parentHash = parent(in);
            } else if (i == 3 && tag == Tag.STORED) {
                draft.tokenCount = skipTokens(in);
            } else if (i == 4 && tag == Tag.STORED) {
                draft.blockSizeTokens = optionalInt(in, "block_size");
            } else if ((i == 6 && tag == Tag.STORED) || (i == 2 && tag == Tag.REMOVED)) {
                draft.medium = optionalText(in);
            } else {
                in.skipValue();
            }
        }
        return draft.event(tag);
    }

    private static KvEvent named(MessageUnpacker in) throws IOException, ForeignFormatException {
        int size = in.unpackMapHeader();
        Draft draft = new Draft();
        Tag tag = null;
        for (int i = 0; i < size; i++) {
            if (in.getNextFormat().getValueType() != ValueType.STRING) {
                throw refuse("an event with a key that is not text");
            }
            switch (in.unpackString()) {
                case "type" -> {
                    if (in.getNextFormat().getValueType() != ValueType.STRING) {
                        throw refuse("an event whose type is not text");
                    }
                    tag = tag(in.unpackString());
                }
                case "block_hashes" -> draft.hashes = hashes(in);
                case "parent_block_hash" -> draft.parentHash = parent(in);
                case "token_ids" -> draft.tokenCount = skipTokens(in);
                case "block_size" -> draft.blockSizeTokens = optionalInt(in, "block_size");
                case "medium" -> draft.medium = optionalText(in);
                default -> in.skipValue();
            }
        }
        if (tag == null) {
            throw refuse("an event without a type");
        }
        return draft.event(tag);
    }

    private static final class Draft {
        private @Nullable List<Long> hashes;
        private @Nullable Long parentHash;
        private @Nullable Long tokenCount;
        private @Nullable Integer blockSizeTokens;
        private @Nullable String medium;

        private KvEvent event(Tag tag) throws ForeignFormatException {
            if (hashes == null && tag != Tag.CLEARED) {
                throw refuse("an event without block_hashes");
            }
            if (blockSizeTokens != null && blockSizeTokens < 0) {
                throw refuse("block_size is negative");
            }
            return new KvEvent(
                    tag, hashes == null ? List.of() : hashes, parentHash, tokenCount, blockSizeTokens, medium);
        }
    }

    private static Tag tag(String name) throws ForeignFormatException {
        return switch (name) {
            case "BlockStored" -> Tag.STORED;
            case "BlockRemoved" -> Tag.REMOVED;
            case "AllBlocksCleared" -> Tag.CLEARED;
            default -> throw refuse("an event that is neither BlockStored, BlockRemoved nor AllBlocksCleared");
        };
    }

    private static @Nullable List<Long> hashes(MessageUnpacker in) throws IOException, ForeignFormatException {
        if (in.tryUnpackNil()) {
            return null;
        }
        if (in.getNextFormat().getValueType() != ValueType.ARRAY) {
            throw refuse("block_hashes is not an array");
        }
        int count = in.unpackArrayHeader();
        List<Long> hashes = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Long hash = optionalHash(in);
            if (hash == null) {
                throw refuse("block_hashes holds nil");
            }
            hashes.add(hash);
        }
        return hashes;
    }

    private static @Nullable Long parent(MessageUnpacker in) throws IOException, ForeignFormatException {
        Long hash = optionalHash(in);
        return hash == null || hash == 0 ? null : hash;
    }

    private static @Nullable Long optionalHash(MessageUnpacker in) throws IOException, ForeignFormatException {
        if (in.tryUnpackNil()) {
            return null;
        }
        MessageFormat format = in.getNextFormat();
        switch (format.getValueType()) {
            case INTEGER -> {
                return format == MessageFormat.UINT64 ? in.unpackBigInteger().longValue() : in.unpackLong();
            }
            case BINARY -> {
                int length = in.unpackBinaryHeader();
                if (length < Long.BYTES || length > MAX_DIGEST_BYTES) {
                    throw refuse("a block hash of " + length + " bytes");
                }
                byte[] digest = in.readPayload(length);
                long hash = 0;
                for (int i = digest.length - Long.BYTES; i < digest.length; i++) {
                    hash = hash << 8 | (digest[i] & 0xff);
                }
                return hash;
            }
            default -> throw refuse("a block hash that is neither an integer nor bytes");
        }
    }

    private static @Nullable Long skipTokens(MessageUnpacker in) throws IOException, ForeignFormatException {
        if (in.tryUnpackNil()) {
            return null;
        }
        if (in.getNextFormat().getValueType() != ValueType.ARRAY) {
            throw refuse("token_ids is not an array");
        }
        int count = in.unpackArrayHeader();
        in.skipValue(count);
        return (long) count;
    }

    private static @Nullable Integer optionalInt(MessageUnpacker in, String name)
            throws IOException, ForeignFormatException {
        if (in.tryUnpackNil()) {
            return null;
        }
        if (in.getNextFormat().getValueType() != ValueType.INTEGER) {
            throw refuse(name + " is not a whole number");
        }
        return in.unpackInt();
    }

    private static @Nullable String optionalText(MessageUnpacker in) throws IOException, ForeignFormatException {
        if (in.tryUnpackNil()) {
            return null;
        }
        if (in.getNextFormat().getValueType() != ValueType.STRING) {
            throw refuse("medium is not text");
        }
        String text = in.unpackString();
        if (text.length() > MAX_MEDIUM_CHARACTERS) {
            throw refuse("medium of " + text.length() + " characters, at most " + MAX_MEDIUM_CHARACTERS);
        }
        return text;
    }
}
