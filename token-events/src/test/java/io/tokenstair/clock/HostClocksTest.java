package io.tokenstair.clock;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HostClocksTest {
    @TempDir
    Path folder;

    @Test
    void theBootNamesTheMachine() throws IOException {
        Path boot = file("boot", "3f2a9c1e-0000-4000-8000-000000000001\n");
        Path none = folder.resolve("none");
        assertThat(HostClocks.machine(boot, none)).isEqualTo("3f2a9c1e-0000-4000-8000-000000000001");
        assertThat(HostClocks.machine(
                        boot, file("same", "monotonic           0         0\nboottime            0         0\n")))
                .isEqualTo("3f2a9c1e-0000-4000-8000-000000000001");
    }

    @Test
    void aShiftedOrUnknownClockIsAClockOfItsOwn() throws IOException {
        Path boot = file("boot", "3f2a9c1e-0000-4000-8000-000000000001\n");
        Path shifted = file("shifted", "monotonic       86400         0\nboottime            0         0\n");
        assertThat(HostClocks.machine(boot, shifted))
                .startsWith("3f2a9c1e-0000-4000-8000-000000000001-")
                .isNotEqualTo(HostClocks.machine(boot, shifted));
        Path none = folder.resolve("none");
        assertThat(HostClocks.machine(none, none)).isNotEqualTo(HostClocks.machine(none, none));
    }

    @Test
    void idsOfThisMachineAreStable() {
        assertThat(HostClocks.elapsedId()).startsWith("monotonic@").isEqualTo(HostClocks.elapsedId());
        assertThat(HostClocks.epochId()).startsWith("wall@");
        assertThat(HostClocks.sampler().sample().remoteClockId()).isEqualTo(HostClocks.epochId());
    }

    private Path file(String name, String text) throws IOException {
        return Files.writeString(folder.resolve(name), text);
    }
}
