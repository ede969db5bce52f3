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
import io.vertx.core.datagram.DatagramSocketOptions;
import io.vertx.core.net.ClientOptionsBase;
import io.vertx.core.net.NetServerOptions;
import io.vertx.core.net.SocketAddress;
import io.vertx.core.transport.Transport;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The usual transport, of Linux itself where there is one for this machine, which closes a connection whose first head does not come in time. A server that also speaks HTTP/2 without TLS
 * makes its connection, and with it everything it could be limited by, only when the first head is whole: before, a client that sends a
 * byte now and then would hold its socket for ever.
 */
public final class GuardedTransport implements Transport {
    private final Transport usual = EPOLL != null && EPOLL.available() ? EPOLL : NIO;
    private final long timeoutNanos;

    /** A transport that gives a first head so long. */
    public GuardedTransport(Duration timeout) {
        this.timeoutNanos = timeout.toNanos();
    }

    @Override
    public String name() {
        return usual.name();
    }

    @Override
    public boolean available() {
        return usual.available();
    }

    @Override
    public @Nullable Throwable unavailabilityCause() {
        return usual.unavailabilityCause();
    }

    @Override
    public io.vertx.core.spi.transport.Transport implementation() {
        return new Guarded(usual.implementation());
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
            return usual.serverChannelFactory(domainSocket);
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
            bootstrap.handler(new Guard(timeoutNanos));
        }

        @Override
        public boolean supportFileRegion() {
            return usual.supportFileRegion();
        }

        @Override
        public boolean supportsDomainSockets() {
            return usual.supportsDomainSockets();
        }
    }

    /** Puts a guard before everything else of a connection that a server accepted. One for each server. */
    private static final class Guard extends ChannelInboundHandlerAdapter {
        private final long timeoutNanos;

        private Guard(long timeoutNanos) {
            this.timeoutNanos = timeoutNanos;
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            if (message instanceof Channel accepted) {
                accepted.pipeline().addLast("first-head", new FirstHead(timeoutNanos));
            }
            context.fireChannelRead(message);
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
