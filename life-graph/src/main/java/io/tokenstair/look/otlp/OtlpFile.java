package io.tokenstair.look.otlp;

import io.opentelemetry.proto.collector.logs.v1.ExportLogsServiceRequest;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Locale;
import java.util.zip.GZIPOutputStream;

/**
 * A file of requests as the file exporter of the OpenTelemetry Collector writes them: a JSON object a line, or protobuf with the length in four
 * bytes before each where the name ends with {@code .pb} or {@code .binpb}; gzipped where it ends with {@code .gz}. It appears whole or not at all.
 */
final class OtlpFile implements OtlpSink {
    private final Path file;
    private final Path unfinished;
    private final DataOutputStream out;
    private final boolean binary;

    OtlpFile(Path file) throws IOException {
        this.file = file;
        String name = String.valueOf(file.getFileName()).toLowerCase(Locale.ROOT);
        boolean zipped = name.endsWith(".gz");
        String plain = zipped ? name.substring(0, name.length() - 3) : name;
        this.binary = plain.endsWith(".pb") || plain.endsWith(".binpb");
        Path folder = file.toAbsolutePath().getParent();
        if (folder != null) {
            Files.createDirectories(folder);
        }
        this.unfinished = file.resolveSibling("." + file.getFileName() + ".unfinished");
        OutputStream raw = new BufferedOutputStream(Files.newOutputStream(unfinished));
        this.out = new DataOutputStream(zipped ? new GZIPOutputStream(raw) : raw);
    }

    @Override
    public void take(ExportTraceServiceRequest request) throws IOException {
        if (binary) {
            byte[] bytes = request.toByteArray();
            out.writeInt(bytes.length);
            out.write(bytes);
        } else {
            out.write(OtlpJsonWriter.line(request).getBytes(StandardCharsets.UTF_8));
            out.write('\n');
        }
    }

    /** A line of JSON says what it is; a frame of protobuf does not, so that spans are alone in such a file. */
    @Override
    public boolean takeLogs(ExportLogsServiceRequest request) throws IOException {
        if (!binary) {
            out.write(OtlpJsonWriter.line(request).getBytes(StandardCharsets.UTF_8));
            out.write('\n');
        }
        return !binary;
    }

    @Override
    public long refusedSpans() {
        return 0;
    }

    @Override
    public void close() throws IOException {
        out.close();
        Files.move(unfinished, file, StandardCopyOption.REPLACE_EXISTING);
    }
}
