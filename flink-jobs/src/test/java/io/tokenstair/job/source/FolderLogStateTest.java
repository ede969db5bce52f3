package io.tokenstair.job.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

class FolderLogStateTest {
    @Test
    void aSplitComesBackFromItsBytes() throws IOException {
        FolderLogSplitSerializer serializer = new FolderLogSplitSerializer();
        FolderLogSplit split = new FolderLogSplit("partition-0042", 1L << 40);
        assertThat(serializer.deserialize(serializer.getVersion(), serializer.serialize(split)))
                .isEqualTo(split);
    }

    @Test
    void theProgressComesBackFromItsBytes() throws IOException {
        FolderLogProgress.Serializer serializer = new FolderLogProgress.Serializer();
        FolderLogProgress progress = new FolderLogProgress(
                List.of("partition-0001", "partition-0000"), List.of(new FolderLogSplit("partition-0001", 5)));
        assertThat(serializer.deserialize(serializer.getVersion(), serializer.serialize(progress)))
                .isEqualTo(progress);
    }

    @Test
    void aVersionFromTheFutureIsRefused() {
        assertThatThrownBy(() -> new FolderLogSplitSerializer().deserialize(2, new byte[0]))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("version 2");
        assertThatThrownBy(() -> new FolderLogProgress.Serializer().deserialize(2, new byte[0]))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("version 2");
    }
}
