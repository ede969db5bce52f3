package io.tokenstair.vllm;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.clock.HostClocks;
import io.tokenstair.event.Event;
import io.tokenstair.event.HostSampled;
import io.tokenstair.vllm.ProbeSources.ObservedProcess;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class HostReaderTest {
    private static final String MACHINE = HostClocks.elapsedId().substring("monotonic@".length());

    @Test
    void thisProcessIsReadAndOneOfAnotherMachineOrNamespaceIsNot() throws Exception {
        long pid = ProcessHandle.current().pid();
        String namespace = Files.readSymbolicLink(Path.of("/proc/self/ns/pid")).toString();
        BlockingQueue<Event> told = new LinkedBlockingQueue<>();
        try (HostReader reader = new HostReader(
                "vllm-host", Duration.ofMillis(5), (collector, clock, nanos, event) -> told.add(event))) {
            reader.observe(new ObservedProcess("e", "another", "worker", Map.of("pid", 1L, "pidNamespace", namespace)));
            reader.observe(new ObservedProcess("e", MACHINE, "worker", Map.of("pid", 1L, "pidNamespace", "pid:[1]")));
            reader.observe(new ObservedProcess("e", MACHINE, "engine", Map.of("pid", pid, "pidNamespace", namespace)));
            HostSampled first = (HostSampled) told.poll(20, TimeUnit.SECONDS);
            HostSampled second = (HostSampled) told.poll(20, TimeUnit.SECONDS);

            assertThat(List.of(first, second)).allSatisfy(sample -> {
                assertThat(sample.processRole()).isEqualTo("engine");
                assertThat(sample.hostId()).isEqualTo(MACHINE);
                assertThat(sample.onCoreNanos()).isPositive();
                assertThat(sample.coreWaitNanos()).isNotNegative();
            });
            assertThat(second.onCoreNanos()).isGreaterThanOrEqualTo(first.onCoreNanos());
        }
    }

    @Test
    void totalsAreReadNumberByNumber() {
        ByteBuffer line = ByteBuffer.wrap("69391804263647 0 17\n".getBytes(StandardCharsets.US_ASCII));
        assertThat(HostReader.nextNumber(line)).isEqualTo(69_391_804_263_647L);
        assertThat(HostReader.nextNumber(line)).isZero();
        assertThat(HostReader.nextNumber(line)).isEqualTo(17);
        assertThat(HostReader.nextNumber(line)).isNull();
        assertThat(HostReader.nextNumber(ByteBuffer.wrap(new byte[] {'x'}))).isNull();
    }

    @Test
    void theNameOfAProcessMayHoldAnything() {
        String after =
                " S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38"
                        + " 25 40";
        assertThat(HostReader.blockIoWaitNanos("77 (VLLM::Engine) x)" + after)).isEqualTo(250_000_000L);
        assertThat(HostReader.blockIoWaitNanos("77 (cut")).isNull();
    }

    @Test
    void connectionsAreReadAsSsTellsThem() {
        TcpConnections.Sum sum = new TcpConnections.Sum(0, null)
                .plus(
                        "0 0 127.0.0.1:8100 127.0.0.1:40010 users:((\"x\",pid=7,fd=3)) timer:(keepalive,1min,0)\t cubic wscale:7,7 rto:204"
                                + " rtt:0.085/0.041 ato:40 mss:65483 retrans:0/2 rcv_rtt:1 minrtt:0.02")
                .plus(
                        "0 0 127.0.0.1:8100 10.0.0.2:40012 users:((\"x\",pid=7,fd=4))\t cubic rto:251 rtt:50.5/12 mss:1448 retrans:1/5");

        assertThat(sum.retransmitCount()).isEqualTo(7);
        assertThat(sum.roundTripNanos()).isEqualTo(50_500_000L);
        assertThat(new TcpConnections.Sum(0, null).plus("0 0 a b\t cubic mss:1").roundTripNanos())
                .isNull();
    }
}
