package io.tokenstair.job.finding;

import io.tokenstair.archive.result.Finding;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** Gives findings their identity: the hash of what they say, so that the same events give the same id everywhere. */
public final class Findings {
    private static final int ID_BYTES = 16;
    private static final MessageDigest EMPTY = newSha256();

    private Findings() {}

    /** The same finding under the hash of its content. */
    public static Finding identified(Finding finding) {
        return new Finding(
                id(finding),
                finding.rule(),
                finding.ruleRevision(),
                finding.cause(),
                finding.severity(),
                finding.engineId(),
                finding.requestId(),
                finding.lifetime(),
                finding.sequenceIndex(),
                finding.fromEpochNanos(),
                finding.toEpochNanos(),
                finding.boundNanos(),
                finding.firstTokenIndex(),
                finding.lastTokenIndex(),
                finding.culpritRequestId(),
                finding.confidence(),
                finding.confidenceWhy(),
                finding.evidence(),
                finding.missingLayers(),
                finding.partNames(),
                finding.partNanos(),
                finding.narrative(),
                finding.sigmaNanos());
    }

    private static String id(Finding finding) {
        String content = String.join(
                "\u001f",
                finding.rule(),
                Integer.toString(finding.ruleRevision()),
                finding.cause(),
                finding.severity(),
                String.valueOf(finding.engineId()),
                String.valueOf(finding.requestId()),
                String.valueOf(finding.lifetime()),
                String.valueOf(finding.sequenceIndex()),
                String.valueOf(finding.fromEpochNanos()),
                String.valueOf(finding.toEpochNanos()),
                String.valueOf(finding.firstTokenIndex()),
                String.valueOf(finding.lastTokenIndex()),
                String.valueOf(finding.culpritRequestId()),
                String.join("\u001e", finding.evidence()),
                finding.narrative());
        return hash(content);
    }

    /** The hash that names what is said. */
    static String hash(String content) {
        byte[] hash = sha256().digest(content.getBytes(StandardCharsets.UTF_8));
        return HexFormat.of().formatHex(hash, 0, ID_BYTES);
    }

    /** A digest that nobody else uses: a copy is cheaper than a search through the security providers. */
    private static MessageDigest sha256() {
        try {
            return (MessageDigest) EMPTY.clone();
        } catch (CloneNotSupportedException e) {
            return newSha256();
        }
    }

    private static MessageDigest newSha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Cannot find SHA-256", e);
        }
    }
}
