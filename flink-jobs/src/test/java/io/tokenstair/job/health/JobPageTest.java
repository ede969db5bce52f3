package io.tokenstair.job.health;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JobPageTest {
    private static InetSocketAddress address(String text) {
        InetSocketAddress address = JobPage.address(text);
        assertThat(address).isNotNull();
        return address == null ? new InetSocketAddress(0) : address;
    }

    private static HttpResponse<String> ask(JobPage page, String method, String path) throws Exception {
        return HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + page.port() + path))
                                .method(method, HttpRequest.BodyPublishers.noBody())
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void aPortAloneIsOneOfThisMachineOnly() {
        assertThat(address("9466").getAddress().isLoopbackAddress()).isTrue();
        assertThat(address("9466").getPort()).isEqualTo(9466);
        assertThat(address("0.0.0.0:9466").getAddress().isAnyLocalAddress()).isTrue();
        assertThat(address("[::1]:9466").getAddress().isLoopbackAddress()).isTrue();
        assertThat(address("localhost:9466").getPort()).isEqualTo(9466);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "here", "65536", ":9466", "a:b", "http://127.0.0.1:9466", "1:2:3", "127.0.0.1"})
    void whatIsNoAddressIsNone(String text) {
        assertThat(JobPage.address(text)).isNull();
    }

    @Test
    void theTextIsServedWithItsEndMark() throws Exception {
        try (JobPage page = JobPage.start(address("0"), () -> "# TYPE a gauge\na 1\n")) {
            assertThat(ask(page, "GET", "/metrics").body()).isEqualTo("# TYPE a gauge\na 1\n# EOF\n");
            assertThat(ask(page, "GET", "/").statusCode()).isEqualTo(404);
            assertThat(ask(page, "GET", "/metrics/more").statusCode()).isEqualTo(404);
            assertThat(ask(page, "POST", "/metrics").statusCode()).isEqualTo(405);
        }
    }

    @Test
    void aPortThatIsTakenIsSaid() throws IOException {
        try (JobPage page = JobPage.start(address("0"), () -> "")) {
            assertThatThrownBy(() -> JobPage.start(address("127.0.0.1:" + page.port()), () -> ""))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("Cannot listen on 127.0.0.1:" + page.port())
                    .hasMessageContaining("--metrics-listen");
        }
    }
}
