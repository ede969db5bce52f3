package io.tokenstair.collect.otlp.receive;

import static org.assertj.core.api.Assertions.assertThat;

import io.tokenstair.clock.EpochClock;
import io.tokenstair.collect.otlp.Otlp;
import io.tokenstair.event.Event;
import io.tokenstair.event.IdAliased;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.MetricSampled;
import io.tokenstair.event.SpanRecorded;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.event.wire.WireException;
import io.tokenstair.log.FolderLogReader;
import io.tokenstair.log.LogOutlet;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is received lies in the log, as its events. */
class LogOutletWayTest {
    @TempDir
    Path folder;

    @Test
    void whatIsReceivedLiesInTheLog() throws IOException, InterruptedException, WireException {
        Path log = folder.resolve("log");
        String metrics;
        try (LogOutlet outlet = LogOutlet.open(log.toString())) {
            LogOutletWay way = new LogOutletWay(outlet, "otlp");
            try (OtlpReceiver receiver =
                    OtlpReceiver.start(Bounds.usual(), way, EpochClock.system(), () -> LogOutletWay.metrics(outlet))) {
                HttpClient client = HttpClient.newHttpClient();
                URI at = URI.create("http://127.0.0.1:" + receiver.httpPort() + "/v1/traces");
                byte[] body = Otlp.traces("vllm", "s", Otlp.vllm("cmpl-a-0", "00f067aa0ba902b7"))
                        .toByteArray();
                assertThat(client.send(
                                        HttpRequest.newBuilder(at)
                                                .header("content-type", "application/x-protobuf")
                                                .POST(HttpRequest.BodyPublishers.ofByteArray(body))
                                                .build(),
                                        HttpResponse.BodyHandlers.discarding())
                                .statusCode())
                        .isEqualTo(200);
                metrics = client.send(
                                HttpRequest.newBuilder(at.resolve("/metrics")).build(),
                                HttpResponse.BodyHandlers.ofString())
                        .body();
                assertThat(receiver.acceptedCount()).isEqualTo(1);
            }
        }
        assertThat(metrics)
                .contains("tokenstair_outlet_offered_events_total 5\n")
                .contains("tokenstair_outlet_lost_events_total 0\n")
                .contains("tokenstair_outlet_writable 1\n")
                .endsWith("# EOF\n");
        List<Event> events = new ArrayList<>();
        try (FolderLogReader reader = new FolderLogReader(log.resolve("partition-0000"), 0)) {
            for (byte[] record = reader.next(); record != null; record = reader.next()) {
                LoggedEvent logged = EventCodec.decode(record);
                assertThat(logged.header().collectorId()).isEqualTo("otlp");
                assertThat(logged.header().coarseEpochMillis()).isNotNull();
                if (logged.event() instanceof SpanRecorded) {
                    assertThat(logged.header().clockId()).startsWith("monotonic@");
                }
                if (logged.event() instanceof MetricSampled) {
                    assertThat(logged.header().clockId()).isEqualTo("wall@otlp");
                }
                events.add(logged.event());
            }
        }
        assertThat(events).anyMatch(SpanRecorded.class::isInstance);
        assertThat(events).contains(new IdAliased("a", "cmpl-a-0", "otlp-span"));
    }
}
