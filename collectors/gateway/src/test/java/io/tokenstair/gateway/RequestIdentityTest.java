package io.tokenstair.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class RequestIdentityTest {
    private final Traffic traffic = new Traffic();
    private byte next;

    private RequestIdentity of(String... sent) {
        return RequestIdentity.of(List.of(sent), traffic, this::sixteen);
    }

    private byte[] sixteen() {
        byte[] bytes = new byte[16];
        bytes[0] = next++;
        return bytes;
    }

    @Test
    void oneUsableIdIsKept() {
        assertThat(of("job-42")).isEqualTo(new RequestIdentity("job-42", false, null));
        assertThat(of("twice", "twice")).isEqualTo(new RequestIdentity("twice", false, null));
        assertThat(of("x".repeat(256)).sendNew()).isFalse();
    }

    @Test
    void noIdGetsOne() {
        RequestIdentity made = of();
        assertThat(made.sendNew()).isTrue();
        assertThat(made.refusal()).isNull();
        assertThat(made.id()).startsWith("gw-").hasSize(35);
        assertThat(of().id()).isNotEqualTo(made.id());
    }

    @Test
    void whatCannotBeTrustedIsReplacedAndSaidWhy() {
        assertThat(of("").refusal()).contains("empty");
        assertThat(of("a", "b").refusal()).contains("2 values");
        assertThat(of("x".repeat(257)).refusal()).contains("longer than 256 bytes");
        assertThat(of("x".repeat(1 << 20)).refusal()).contains("longer");
        assertThat(of("a b").refusal()).contains("at 1");
        assertThat(of("a\u0000").refusal()).contains("at 1");
        assertThat(of("\u001b[31m").refusal()).contains("at 0");
        assertThat(of("\u00e9").refusal()).contains("at 0");
        assertThat(of("a b").sendNew()).isTrue();
    }

    @Test
    void anIdInUseIsNotUsedTwiceAtOnce() {
        assertThat(of("job").sendNew()).isFalse();
        RequestIdentity second = of("job");
        assertThat(second.sendNew()).isTrue();
        assertThat(second.refusal()).contains("in use");
        traffic.release("job");
        assertThat(of("job").sendNew()).isFalse();
    }

    @Test
    void aValidTraceIsKeptAndAnyOtherStartsAnew() {
        String valid = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        TraceContext kept = TraceContext.of(List.of(valid), this::sixteen);
        assertThat(kept.sendNew()).isFalse();
        assertThat(kept.traceId()).isEqualTo("4bf92f3577b34da6a3ce929d0e0e4736");
        assertThat(kept.spanId()).isEqualTo("00f067aa0ba902b7");
        assertThat(TraceContext.of(List.of("01" + valid.substring(2) + "-more"), this::sixteen)
                        .sendNew())
                .isFalse();
        for (String bad : List.of(
                "",
                "00",
                valid + "-more",
                valid.replace("00-4", "ff-4"),
                valid.toUpperCase(java.util.Locale.ROOT),
                "00-" + "0".repeat(32) + "-00f067aa0ba902b7-01",
                "00-4bf92f3577b34da6a3ce929d0e0e4736-" + "0".repeat(16) + "-01",
                "x".repeat(1 << 20))) {
            TraceContext made = TraceContext.of(List.of(bad), this::sixteen);
            assertThat(made.sendNew()).as(bad.length() > 99 ? "long" : bad).isTrue();
            assertThat(made.refusal()).isNotNull();
            assertThat(TraceContext.of(List.of(made.traceparent()), this::sixteen)
                            .sendNew())
                    .isFalse();
        }
        assertThat(TraceContext.of(List.of(valid, valid), this::sixteen).sendNew())
                .isTrue();
        assertThat(TraceContext.of(List.of(), this::sixteen).refusal()).isNull();
    }
}
