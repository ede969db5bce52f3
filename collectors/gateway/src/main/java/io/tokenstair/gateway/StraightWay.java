package io.tokenstair.gateway;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.net.impl.ConnectionBase;
import org.jspecify.annotations.Nullable;

/**
 * The short way for a piece of an answer between two connections of HTTP/1.1 on one event loop: whole chunks as the bytes they came as, from
 * before the decoder of the engine's connection to behind the encoder of the client's; other pieces from that decoder to that encoder; both
 * past the queues between. Only while those are empty and the client takes what it gets; from the first piece on that has to wait, an answer
 * goes the usual way, with its back-pressure, to its end. One for each connection to the engine.
 */
final class StraightWay extends ChannelInboundHandlerAdapter {
    private static final String NAME = "straight-way";

    private final ChunkEdges edges = new ChunkEdges();
    private @Nullable Exchange exchange;
    private @Nullable ChannelHandlerContext client;
    /** The encoder of the client's connection: what is written from there goes out as it is. */
    private @Nullable ChannelHandlerContext clientEncoder;
    /** Pieces of the answer that went the usual way. */
    private long usualCount;
    /** Bytes with the head of an answer are with the decoder. */
    private boolean beginning;
    /** The head that they had was of an answer in chunks. */
    private boolean begun;

    /** The short way of a connection to the engine, made where there is none yet; null where it has none. */
    static @Nullable StraightWay of(HttpConnection upstream) {
        if (!(upstream instanceof ConnectionBase connection)) {
            return null;
        }
        ChannelHandlerContext last = connection.channelHandlerContext();
        ChannelPipeline pipeline = last.pipeline();
        if (pipeline.get(NAME) instanceof StraightWay known) {
            return known;
        }
        if (!last.executor().inEventLoop()) {
            return null;
        }
        StraightWay made = new StraightWay();
        pipeline.addBefore(last.name(), NAME, made);
        ChannelHandlerContext codec = pipeline.context(HttpClientCodec.class);
        if (codec != null) {
            pipeline.addBefore(codec.name(), NAME + "-of-chunks", made.new BeforeDecoder());
        }
        return made;
    }

    /** Lets pieces of the answer that has begun go straight to the client, where both are on one event loop. */
    void open(Exchange of, HttpConnection to) {
        if (to instanceof ConnectionBase connection
                && connection.channelHandlerContext().executor().inEventLoop()) {
            exchange = of;
            client = connection.channelHandlerContext();
            clientEncoder = client.pipeline().context(HttpResponseEncoder.class);
        }
    }

    /** Sends all that follows the usual way. */
    void close() {
        exchange = null;
        client = null;
        clientEncoder = null;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (message instanceof HttpResponse answer) {
            usualCount = 0;
            close();
            begun = beginning
                    && answer.decoderResult().isSuccess()
                    && HttpUtil.isTransferEncodingChunked(answer)
                    && edges.isKnown();
            // Another answer in the same bytes is none that somebody asked for.
            beginning = false;
            if (!begun) {
                edges.lose();
            }
        } else if (message instanceof LastHttpContent) {
            edges.lose();
            close();
        } else if (message instanceof HttpContent piece) {
            Exchange of = exchange;
            ChannelHandlerContext to = client;
            if (of != null && to != null) {
                if (!to.channel().isWritable()) {
                    close();
                } else if (piece.decoderResult().isSuccess() && of.goesStraight(usualCount)) {
                    ByteBuf buffer = piece.content();
                    byte[] bytes = new byte[buffer.readableBytes()];
                    buffer.getBytes(buffer.readerIndex(), bytes);
                    of.straightPiece(piece, bytes, to);
                    return;
                }
            }
            usualCount++;
        }
        context.fireChannelRead(message);
    }

    /** Takes whole chunks before the decoder sees them: between two chunks it does not know how many there were. */
    private final class BeforeDecoder extends ChannelInboundHandlerAdapter {
        /** The decoder got something since what was read last was complete. */
        private boolean decoded = true;

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            if (!(message instanceof ByteBuf bytes)) {
                edges.lose();
                decoded = true;
                context.fireChannelRead(message);
                return;
            }
            if (edges.isEdge() && passWhole(bytes)) {
                return;
            }
            decoded = true;
            if (edges.isKnown()) {
                edges.follow(bytes, bytes.readerIndex());
                context.fireChannelRead(bytes);
                return;
            }
            edges.begin(bytes);
            beginning = true;
            begun = false;
            context.fireChannelRead(bytes);
            beginning = false;
            if (!begun) {
                edges.lose();
            }
        }

        /** Passes the whole chunks at the start of these bytes; true when that was all. */
        private boolean passWhole(ByteBuf bytes) {
            Exchange of = exchange;
            ChannelHandlerContext to = clientEncoder;
            if (of == null || to == null) {
                return false;
            }
            if (!to.channel().isWritable()) {
                close();
                return false;
            }
            int whole = of.goesStraight(usualCount) ? edges.wholeBytes(bytes) : 0;
            if (whole == 0) {
                return false;
            }
            byte[] data = edges.data(bytes, whole);
            if (whole == bytes.readableBytes()) {
                of.straightPiece(bytes, data, to);
                return true;
            }
            of.straightPiece(bytes.readRetainedSlice(whole), data, to);
            return false;
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            if (decoded) {
                decoded = false;
                context.fireChannelReadComplete();
            }
        }
    }
}
