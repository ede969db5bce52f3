package io.tokenstair.gateway;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.LastHttpContent;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.net.impl.ConnectionBase;
import org.jspecify.annotations.Nullable;

/**
 * The short way for a piece of an answer between two connections of HTTP/1.1 on one event loop: from the decoder of the engine's to the
 * encoder of the client's, past the queues between. Only while those are empty and the client takes what it gets; from the first piece on
 * that has to wait, an answer goes the usual way, with its back-pressure, to its end. One for each connection to the engine.
 */
final class StraightWay extends ChannelInboundHandlerAdapter {
    private static final String NAME = "straight-way";

    private @Nullable Exchange exchange;
    private @Nullable ChannelHandlerContext client;
    /** Pieces of the answer that went the usual way. */
    private long usualCount;

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
        return made;
    }

    /** Lets pieces of the answer that has begun go straight to the client, where both are on one event loop. */
    void open(Exchange of, HttpConnection to) {
        if (to instanceof ConnectionBase connection
                && connection.channelHandlerContext().executor().inEventLoop()) {
            exchange = of;
            client = connection.channelHandlerContext();
        }
    }

    /** Sends all that follows the usual way. */
    void close() {
        exchange = null;
        client = null;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (message instanceof HttpResponse) {
            usualCount = 0;
            close();
        } else if (message instanceof LastHttpContent) {
            close();
        } else if (message instanceof HttpContent piece) {
            Exchange of = exchange;
            ChannelHandlerContext to = client;
            if (of != null && to != null) {
                if (!to.channel().isWritable()) {
                    close();
                } else if (piece.decoderResult().isSuccess() && of.goesStraight(usualCount)) {
                    of.straightPiece(piece, to);
                    return;
                }
            }
            usualCount++;
        }
        context.fireChannelRead(message);
    }
}
