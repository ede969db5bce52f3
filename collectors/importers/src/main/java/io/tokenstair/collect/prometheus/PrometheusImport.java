package io.tokenstair.collect.prometheus;

import io.tokenstair.collect.importer.FileImport;
import io.tokenstair.collect.importer.ImportListener;
import io.tokenstair.collect.importer.RecordReader;
import io.tokenstair.collect.input.FileDigest;
import io.tokenstair.collect.input.LineSource;
import io.tokenstair.collect.output.EventSpools;
import java.io.IOException;
import java.nio.file.Path;

/** Imports scrapes, a collector a file. */
public final class PrometheusImport extends FileImport {
    /** An import within these limits. */
    public PrometheusImport(LineSource.Limits limits, ImportListener listener) {
        super("prometheus", limits, listener);
    }

    @Override
    protected void read(Path file, int index, RecordReader reader, EventSpools spools) throws IOException {
        String source = String.valueOf(file.getFileName());
        Scrape.read(reader, file, source, null, spools.collector("prometheus", FileDigest.of(file), "scraper"));
    }
}
