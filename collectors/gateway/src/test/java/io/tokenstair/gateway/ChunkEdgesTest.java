package io.tokenstair.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpResponseDecoder;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Where chunks begin, beside what Netty's decoder makes of the same bytes. */
class ChunkEdgesTest {
    private static final String HEAD = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

    private static ByteBuf bytes(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.ISO_8859_1);
    }

    private static ChunkEdges after(String text) {
        ChunkEdges edges = new ChunkEdges();
        edges.begin(bytes(text));
        return edges;
    }

    @Test
    void chunksBeginBehindTheHeadAndBehindEachOther() {
        assertThat(after(HEAD).isEdge()).isTrue();
        assertThat(after(HEAD + "3\r\nabc\r\n").isEdge()).isTrue();
        assertThat(after(HEAD + "3\r\nabc\r\n1").isEdge()).isFalse();
        assertThat(after(HEAD + "3\r\nabc\r\n1\r").isEdge()).isFalse();
        assertThat(after(HEAD + "3\r\nabc\r\n1\r\n").isEdge()).isFalse();
        assertThat(after(HEAD + "3\r\nabc\r").isEdge()).isFalse();
        assertThat(after(HEAD + "3\r\nab").isKnown()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0\r\n\r\n",
                "00\r\n\r\n",
                "3;x=y\r\nabc\r\n",
                "3 \r\nabc\r\n",
                "3\nabc\r\n",
                "3\r\nabc\n",
                "3\r\nabcd\r\n",
                "\r\n",
                "-3\r\nabc\r\n",
                "00000003\r\nabc\r\n",
                "ffffffffff\r\n",
                "HTTP/1.1 200 OK\r\n"
            })
    void whatIsNoPlainChunkIsLeftToTheDecoder(String strange) {
        assertThat(after(HEAD + strange).isKnown()).isFalse();
        ChunkEdges edges = after(HEAD);
        assertThat(edges.wholeBytes(bytes(strange))).isZero();
        assertThat(edges.wholeBytes(bytes("3\r\nabc\r\n" + strange))).isEqualTo(8);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "HTTP",
                "HTTP/1.1 200 OK\r\nA: b\r\n",
                "HTTP/1.0 200 OK\r\n\r\n",
                "3\r\nabc\r\n",
                "\r\nHTTP/1.1 200 OK\r\n\r\n"
            })
    void anAnswerWhoseHeadIsNotWholeInTheseBytesIsNotFollowed(String text) {
        assertThat(after(text).isKnown()).isFalse();
    }

    @Test
    void aHeadWhoseLinesEndByLineFeedsEndsWhereTheDecoderEndsIt() {
        ChunkEdges edges = after("HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n2\r\nab\r\n");
        assertThat(edges.isEdge()).isTrue();
    }

    @Test
    void anyCutOfAnyChunksGivesTheDataThatTheDecoderGives() {
        SplittableRandom random = new SplittableRandom(21);
        for (int round = 0; round < 2_000; round++) {
            StringBuilder wire = new StringBuilder(HEAD);
            for (int i = random.nextInt(1, 8); i > 0; i--) {
                int size = random.nextInt(8) == 0 ? random.nextInt(1, 5_000) : random.nextInt(1, 40);
                wire.append(
                                random.nextBoolean()
                                        ? Integer.toHexString(size)
                                        : "0" + Integer.toHexString(size).toUpperCase(java.util.Locale.ROOT))
                        .append("\r\n")
                        .append("a\r\nb".repeat(size).substring(0, size))
                        .append("\r\n");
            }
            byte[] all = wire.append("0\r\n\r\n").toString().getBytes(StandardCharsets.ISO_8859_1);
            // Now and then a byte is another one.
            if (random.nextInt(4) == 0) {
                all[random.nextInt(HEAD.length(), all.length)] = (byte) "0\r\n;aX".charAt(random.nextInt(6));
            }
            assertThat(cut(all, random)).isEqualTo(decoded(all));
        }
    }

    /** What passes past a decoder and through it, where the bytes are cut somewhere. */
    private static byte[] cut(byte[] all, SplittableRandom random) {
        ChunkEdges edges = new ChunkEdges();
        EmbeddedChannel decoder = new EmbeddedChannel(new HttpResponseDecoder());
        ByteArrayOutputStream data = new ByteArrayOutputStream();
        int at = 0;
        int cut = HEAD.length() + random.nextInt(20);
        while (at < all.length) {
            int to = Math.min(all.length, Math.max(at + 1, cut));
            ByteBuf piece = Unpooled.copiedBuffer(all, at, to - at);
            if (edges.isEdge()) {
                int whole = edges.wholeBytes(piece);
                data.writeBytes(edges.data(piece, whole));
                piece.skipBytes(whole);
            }
            if (edges.isKnown()) {
                edges.follow(piece, piece.readerIndex());
            } else if (at == 0) {
                edges.begin(piece);
            }
            decoder.writeInbound(piece);
            read(decoder, data);
            at = to;
            cut = to + random.nextInt(1, 60);
        }
        decoder.finish();
        read(decoder, data);
        return data.toByteArray();
    }

    private static byte[] decoded(byte[] all) {
        EmbeddedChannel decoder = new EmbeddedChannel(new HttpResponseDecoder());
        decoder.writeInbound(Unpooled.copiedBuffer(all));
        ByteArrayOutputStream data = new ByteArrayOutputStream();
        decoder.finish();
        read(decoder, data);
        return data.toByteArray();
    }

    private static void read(EmbeddedChannel decoder, ByteArrayOutputStream data) {
        for (Object message = decoder.readInbound(); message != null; message = decoder.readInbound()) {
            if (message instanceof HttpContent content) {
                byte[] bytes = new byte[content.content().readableBytes()];
                content.content().readBytes(bytes);
                data.writeBytes(bytes);
                content.release();
            }
        }
    }
}
