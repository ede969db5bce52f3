package io.tokenstair.job;

import io.tokenstair.archive.ArchiveLayout;
import io.tokenstair.archive.ResultTables;
import io.tokenstair.archive.TableReader;
import io.tokenstair.archive.TableSchema;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;

/**
 * One number for what an archive says: the hash over its findings and token analyses, whatever files they lie in. Two archives with
 * the same digest give the same answers. Memory: 64 bytes a row.
 */
final class ResultDigest {
    private ResultDigest() {}

    /** SHA-256 over the sorted hashes of all findings and token analyses, in hex. */
    static String of(Path archive) throws IOException {
        MessageDigest digest = sha256();
        for (String row : rowHashes(archive, ResultTables.FINDING)) {
            digest.update(row.getBytes(StandardCharsets.US_ASCII));
        }
        for (String row : rowHashes(archive, ResultTables.TOKEN_ANALYSIS)) {
            digest.update(row.getBytes(StandardCharsets.US_ASCII));
        }
        return HexFormat.of().formatHex(digest.digest());
    }

    /** The sorted hashes of a table's rows. */
    static <R extends Record> List<String> rowHashes(Path archive, TableSchema<R> schema) throws IOException {
        List<String> hashes = new ArrayList<>();
        MessageDigest digest = sha256();
        for (Path file : ArchiveLayout.files(archive, schema.table())) {
            try (TableReader<R> rows = TableReader.open(schema, file)) {
                while (rows.hasNext()) {
                    hashes.add(HexFormat.of()
                            .formatHex(digest.digest(rows.next().toString().getBytes(StandardCharsets.UTF_8))));
                }
            }
        }
        Collections.sort(hashes);
        return hashes;
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Cannot find SHA-256", e);
        }
    }
}
