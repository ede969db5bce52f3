package io.tokenstair.server;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ServerChannel;
import io.netty.channel.socket.DatagramChannel;
import io.netty.channel.socket.InternetProtocolFamily;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.vertx.core.datagram.DatagramSocketOptions;
import io.vertx.core.net.ClientOptionsBase;
import io.vertx.core.net.NetServerOptions;
import io.vertx.core.net.SocketAddress;
import io.vertx.core.transport.Transport;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The usual transport, which closes a connection whose first head does not come in time. A server that also speaks HTTP/2 without TLS
 * makes its connection, and with it everything it could be limited by, only when the first head is whole: before, a client that sends a
 * byte now and then would hold its socket for ever.
 */
public final class GuardedTransport implements Transport {
    private final long timeoutNanos;

    /** A transport that gives a first head so long. */
    public GuardedTransport(Duration timeout) {
        this.timeoutNanos = timeout.toNanos();
    }

    @Override
    public String name() {
        return NIO.name();
    }

    @Override
    public boolean available() {
        return NIO.available();
    }

    @Override
    public @Nullable Throwable unavailabilityCause() {
        return NIO.unavailabilityCause();
    }

    @Override
    public io.vertx.core.spi.transport.Transport implementation() {
        return new Guarded(NIO.implementation());
    }

    private final class Guarded implements io.vertx.core.spi.transport.Transport {
        private final io.vertx.core.spi.transport.Transport usual;

        private Guarded(io.vertx.core.spi.transport.Transport usual) {
            this.usual = usual;
        }

        @Override
        public java.net.SocketAddress convert(SocketAddress address) {
            return usual.convert(address);
        }

        @Override
        public SocketAddress convert(java.net.SocketAddress address) {
            return usual.convert(address);
        }

        @Override
        public IoHandlerFactory ioHandlerFactory() {
            return usual.ioHandlerFactory();
        }

        @Override
        public DatagramChannel datagramChannel() {
            return usual.datagramChannel();
        }

        @Override
        @SuppressWarnings("deprecation") // The interface asks for it.
        public DatagramChannel datagramChannel(InternetProtocolFamily family) {
            return usual.datagramChannel(family);
        }

        @Override
        public ChannelFactory<? extends Channel> channelFactory(boolean domainSocket) {
            return usual.channelFactory(domainSocket);
        }

        @Override
        public ChannelFactory<? extends ServerChannel> serverChannelFactory(boolean domainSocket) {
            return domainSocket ? usual.serverChannelFactory(true) : () -> new GuardedServer(timeoutNanos);
        }

        @Override
        public void configure(DatagramChannel channel, DatagramSocketOptions options) {
            usual.configure(channel, options);
        }

        @Override
        public void configure(
                ClientOptionsBase options, int connectTimeout, boolean domainSocket, Bootstrap bootstrap) {
            usual.configure(options, connectTimeout, domainSocket, bootstrap);
        }

        @Override
        public void configure(NetServerOptions options, boolean domainSocket, ServerBootstrap bootstrap) {
            usual.configure(options, domainSocket, bootstrap);
        }
    }

    /** Puts a guard before everything else of a connection that was accepted. */
    private static final class GuardedServer extends NioServerSocketChannel {
        private final long timeoutNanos;

        private GuardedServer(long timeoutNanos) {
            this.timeoutNanos = timeoutNanos;
        }

        @Override
        protected int doReadMessages(List<Object> accepted) throws Exception {
            int before = accepted.size();
            int count = super.doReadMessages(accepted);
            for (Object channel : accepted.subList(before, accepted.size())) {
                ((Channel) channel).pipeline().addLast("first-head", new FirstHead(timeoutNanos));
            }
            return count;
        }
    }

    /**
     * Waits for the empty line that ends the first head. HTTP/2 without TLS begins with one too; TLS, whose bytes are closed to it, has a
     * handshake that is limited in time, and then a connection at once.
     */
    private static final class FirstHead extends ChannelInboundHandlerAdapter {
        private static final byte TLS_HANDSHAKE = 22;

        private final long timeoutNanos;
        private @Nullable Future<?> timer;
        private boolean started;
        private int lineBytes;

        private FirstHead(long timeoutNanos) {
            this.timeoutNanos = timeoutNanos;
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            timer = context.executor()
                    .schedule(
                            () -> {
                                var unused = context.close();
                            },
                            timeoutNanos,
                            TimeUnit.NANOSECONDS);
            context.fireChannelActive();
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            if (message instanceof ByteBuf bytes && isHeadWhole(bytes)) {
                end();
                context.pipeline().remove(this);
            }
            context.fireChannelRead(message);
        }

        private boolean isHeadWhole(ByteBuf bytes) {
            if (!started && bytes.isReadable()) {
                started = true;
                if (bytes.getByte(bytes.readerIndex()) == TLS_HANDSHAKE) {
                    return true;
                }
                lineBytes = 1;
            }
            for (int at = bytes.readerIndex(); at < bytes.writerIndex(); at++) {
                byte b = bytes.getByte(at);
                if (b == '\n') {
                    if (lineBytes == 0) {
                        return true;
                    }
                    lineBytes = 0;
                } else if (b != '\r') {
                    lineBytes++;
                }
            }
            return false;
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            end();
            context.fireChannelInactive();
        }

        private void end() {
            Future<?> armed = timer;
            if (armed != null) {
                armed.cancel(false);
                timer = null;
            }
        }
    }
}
