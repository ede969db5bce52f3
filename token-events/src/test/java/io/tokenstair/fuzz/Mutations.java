package io.tokenstair.fuzz;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;

/** Changes inputs as accidents and attackers do: bytes flip, ends and middles are missing, parts of another input come in, lengths lie. */
public final class Mutations {
    private static final List<String> PIECES = List.of(
            "NaN",
            "Infinity",
            "-Infinity",
            "-1",
            "0",
            "1e309",
            "1e-400",
            "99999999999999999999",
            "9223372036854775807",
            "18446744073709551615",
            "null",
            "true",
            "\"",
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "\n",
            "\r\n",
            "\\u0000",
            "\\ud83d",
            "\ud83d\ude00",
            "[[[[[[[[[[[[[[[[",
            "{\"a\":",
            "{\"a\":{\"a\":{\"a\":",
            "data: ",
            "[DONE]",
            "\u0000",
            "\u001b[31m",
            "0x1p3");
    private static final int LONGEST_CHANGE = 200;

    private final SplittableRandom random;
    private final List<byte[]> originals;
    private final List<String> pieces;

    /** Changes of these inputs, with pieces of their format put in as well; the same seed gives the same ones. */
    public Mutations(long seed, List<byte[]> originals, String... ofFormat) {
        this.pieces = new ArrayList<>(PIECES);
        Collections.addAll(pieces, ofFormat);
        this.random = new SplittableRandom(seed);
        this.originals = originals;
    }

    /** The next changed input. */
    public byte[] next() {
        byte[] bytes = originals.get(random.nextInt(originals.size())).clone();
        int changes = 1 + random.nextInt(5);
        for (int i = 0; i < changes && bytes.length > 1; i++) {
            bytes = changed(bytes);
        }
        return bytes;
    }

    private byte[] changed(byte[] bytes) {
        int at = random.nextInt(bytes.length);
        int to = Math.min(bytes.length, at + 1 + random.nextInt(LONGEST_CHANGE));
        switch (random.nextInt(9)) {
            case 0 -> {
                bytes[at] = (byte) random.nextInt(256);
                return bytes;
            }
            case 1 -> {
                bytes[at] ^= (byte) (1 << random.nextInt(8));
                return bytes;
            }
            case 2 -> {
                return random.nextInt(4) == 0 ? Arrays.copyOf(bytes, at) : bytes;
            }
            case 3 -> {
                return joined(bytes, at, new byte[0], to);
            }
            case 4, 5 -> {
                byte[] piece = pieces.get(random.nextInt(pieces.size())).getBytes(StandardCharsets.UTF_8);
                return joined(bytes, at, piece, random.nextBoolean() ? at : Math.min(bytes.length, at + piece.length));
            }
            case 6 -> {
                // The same again.
                return joined(bytes, to, Arrays.copyOfRange(bytes, at, to), to);
            }
            case 7 -> {
                byte[] other = originals.get(random.nextInt(originals.size()));
                int from = random.nextInt(other.length);
                byte[] part =
                        Arrays.copyOfRange(other, from, Math.min(other.length, from + random.nextInt(LONGEST_CHANGE)));
                return joined(bytes, at, part, to);
            }
            default -> {
                // A digit becomes another: ids, stamps, counts and lengths that are none.
                int digit = at;
                while (digit < bytes.length && (bytes[digit] < '0' || bytes[digit] > '9')) {
                    digit++;
                }
                if (digit < bytes.length) {
                    bytes[digit] = (byte) "0123456789-.eE".charAt(random.nextInt(14));
                }
                return bytes;
            }
        }
    }

    private static byte[] joined(byte[] bytes, int end, byte[] piece, int goesOnAt) {
        byte[] joined = new byte[end + piece.length + bytes.length - goesOnAt];
        System.arraycopy(bytes, 0, joined, 0, end);
        System.arraycopy(piece, 0, joined, end, piece.length);
        System.arraycopy(bytes, goesOnAt, joined, end + piece.length, bytes.length - goesOnAt);
        return joined;
    }
}
