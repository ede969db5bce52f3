package io.tokenstair.collector;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tokenstair.log.LogOutlet;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OtlpCollectorTest {
    @TempDir
    Path folder;

    private static OptionValues values(Map<String, String> given) throws CollectorException {
        return new OptionValues(new OtlpCollector().options(), given, "test");
    }

    @Test
    void itListensWhereItIsToldAndSaysHowItFares() throws CollectorException {
        try (LogOutlet outlet = LogOutlet.open(folder.resolve("log").toString());
                Collector.Running running = new OtlpCollector()
                        .start("otlp", values(Map.of("grpc", "127.0.0.1:0", "http", "127.0.0.1:0")), outlet)) {
            assertThat(running.status()).matches("gRPC on \\d+, HTTP on \\d+: 0 items taken, 0 refused, 0 events lost");
            String port = running.status().replaceFirst("gRPC on (\\d+),.*", "$1");
            assertThatThrownBy(() -> new OtlpCollector()
                            .start("otlp", values(Map.of("grpc", "127.0.0.1:" + port, "http", "127.0.0.1:0")), outlet))
                    .isInstanceOf(CollectorException.class)
                    .hasMessageContaining("it is taken or not allowed; choose another port");
        }
    }

    @Test
    void itsSettingsAreChecked() throws CollectorException {
        assertThat(values(Map.of()).host("grpc")).isEqualTo("127.0.0.1");
        assertThatThrownBy(() -> values(Map.of("http", "4318"))).hasMessageContaining("not an address");
        assertThatThrownBy(() -> values(Map.of("max-request", "lots"))).hasMessageContaining("not a size");
    }

    @Test
    void aSecretIsReadFromWhereItLiesAndIsInNoMessage() throws Exception {
        String secret = "s3cr3t-that-nobody-may-read";
        Path file = Files.writeString(folder.resolve("token"), secret + "\n");
        assertThat(values(Map.of("token", "file:" + file)).optionalSecret("token"))
                .isEqualTo(secret);
        assertThatThrownBy(() -> values(Map.of("token", secret)))
                .hasMessage("test: token: give env:NAME or file:PATH, not the secret itself");
        assertThatThrownBy(
                        () -> values(Map.of("token", "env:TOKENSTAIR_NO_SUCH")).optionalSecret("token"))
                .hasMessage("token: the environment has no TOKENSTAIR_NO_SUCH");
        assertThatThrownBy(() -> values(Map.of("token", "file:" + folder.resolve("none")))
                        .optionalSecret("token"))
                .hasMessageStartingWith("token: cannot be read: ");
        assertThatThrownBy(() -> ConfigFile.read(
                        "f", "to: x\ncollectors:\n  - {type: otlp, token: " + secret + "}\n", Collectors.all(), null))
                .hasMessage("f:3:25: token: give env:NAME or file:PATH, not the secret itself");
        try (LogOutlet outlet = LogOutlet.open(folder.resolve("log").toString())) {
            assertThatThrownBy(() -> new OtlpCollector()
                            .start(
                                    "otlp",
                                    values(Map.of(
                                            "grpc", "127.0.0.1:0", "http", "127.0.0.1:0", "tls-cert", file.toString())),
                                    outlet))
                    .hasMessage("otlp: Cannot speak TLS with only one of certificate and key");
        }
    }
}
