package io.tokenstair.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ArchiveLayoutTest {
    @TempDir
    Path archive;

    @Test
    void bucketsAreUtcHoursOfEventTime() {
        assertThat(ArchiveLayout.bucket("finding", 0L)).isEqualTo("table=finding/date=1970-01-01/hour=00");
        assertThat(ArchiveLayout.bucket("finding", 1_790_000_000_123L))
                .isEqualTo("table=finding/date=2026-09-21/hour=14");
        assertThat(ArchiveLayout.bucket("finding", -1L)).isEqualTo("table=finding/date=1969-12-31/hour=23");
        assertThat(ArchiveLayout.bucket("finding", null)).isEqualTo("table=finding/date=undated/hour=undated");
    }

    @Test
    void filesAreTheFinishedOnesUndatedLast() throws IOException {
        Path undated = file("table=finding/date=undated/hour=undated/part-0.parquet");
        Path second = file("table=finding/date=2026-01-01/hour=01/part-0.parquet");
        Path first = file("table=finding/date=2026-01-01/hour=00/part-1.parquet");
        file("table=finding/date=2026-01-01/hour=00/.part-2.parquet.inprogress.1");
        file("table=finding/date=2026-01-01/hour=00/.part-2.parquet");
        file("table=finding/date=2026-01-01/hour=00/_part-3.parquet");
        file("table=finding/_temporary/part-4.parquet");
        file("table=finding/date=2026-01-01/hour=00/notes.txt");
        file("table=finding_old/part-5.parquet");

        assertThat(ArchiveLayout.files(archive, "finding")).containsExactly(first, second, undated);
        assertThat(ArchiveLayout.files(archive, "milestone")).isEmpty();
        assertThat(ArchiveLayout.tables(archive)).containsExactly("finding", "finding_old");
    }

    @Test
    void resultsAreThereOnceAnyResultTableHasAFile() throws IOException {
        file("table=step_completed/date=undated/hour=undated/part-0.parquet");
        assertThat(ArchiveLayout.hasResults(archive)).isFalse();

        file("table=layer_report/date=undated/hour=undated/part-0.parquet");
        assertThat(ArchiveLayout.hasResults(archive)).isTrue();
    }

    @Test
    void tablesMayBeLinks() throws IOException {
        Path real = Files.createDirectories(archive.resolve("elsewhere"));
        Files.createFile(real.resolve("part-0.parquet"));
        Files.createSymbolicLink(archive.resolve("table=finding"), real);

        assertThat(ArchiveLayout.files(archive, "finding")).hasSize(1);
        assertThat(ArchiveLayout.tables(archive)).containsExactly("finding");
    }

    @Test
    void aLinkThatLeadsBackIsReported() throws IOException {
        Path table = Files.createDirectories(archive.resolve("table=finding"));
        Files.createSymbolicLink(table.resolve("again"), table);

        assertThatThrownBy(() -> ArchiveLayout.files(archive, "finding"))
                .isInstanceOf(ArchiveException.class)
                .hasMessageContaining("leads back");
    }

    @Test
    void whatIsNoArchiveIsSaidSo() throws IOException {
        assertThatThrownBy(() -> ArchiveLayout.requireArchive(archive.resolve("none")))
                .isInstanceOf(ArchiveException.class)
                .hasMessageContaining("there is no such folder");
        assertThatThrownBy(() -> ArchiveLayout.requireArchive(archive))
                .isInstanceOf(ArchiveException.class)
                .hasMessageContaining("it has no table");
        Path file = file("file");
        assertThatThrownBy(() -> ArchiveLayout.requireArchive(file))
                .isInstanceOf(ArchiveException.class)
                .hasMessageContaining("it is no folder");

        file("table=finding/date=undated/hour=undated/part-0.parquet");
        assertThat(ArchiveLayout.requireArchive(archive)).isEqualTo(archive);
    }

    private Path file(String path) throws IOException {
        Path file = archive.resolve(path);
        Files.createDirectories(file.getParent());
        return Files.createFile(file);
    }
}
