package io.tokenstair.look.slo;

import io.tokenstair.archive.result.ContentHash;
import io.tokenstair.archive.result.Finding;
import io.tokenstair.archive.result.TokenAnalysis;
import io.tokenstair.cause.Cause;
import io.tokenstair.cause.Confidence;
import io.tokenstair.cause.DeliveryPart;
import io.tokenstair.cause.Part;
import io.tokenstair.cause.Severity;
import io.tokenstair.look.archive.EvidenceSentence;
import io.tokenstair.look.archive.FindingFilter;
import io.tokenstair.look.archive.RequestFilter;
import io.tokenstair.look.archive.ResultArchive;
import io.tokenstair.look.archive.RowCursor;
import io.tokenstair.look.archive.SloFilter;
import io.tokenstair.look.archive.SloQueries;
import io.tokenstair.look.archive.SloRow;
import io.tokenstair.look.archive.TokenParts;
import io.tokenstair.narrative.Milliseconds;
import io.tokenstair.narrative.Phrase;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What is beyond the limits of the reader, worked out from the tables of an archive while they are read: the same archive and limits
 * give the same breaches. A breach is a warning; ten times its limit or more is critical.
 */
public final class SloBreaches {
    private static final int CRITICAL_FACTOR = 10;
    private static final String BEFORE_THE_QUEUE = Phrase.WHY_BEFORE_THE_QUEUE.say();

    /** The order of findings, as the archive sorts them: ids compare as UTF-8, absent first, undated last. */
    private static final Comparator<Finding> PUBLIC_ORDER = Comparator.comparing(
                    Finding::fromEpochNanos, Comparator.nullsLast(Comparator.naturalOrder()))
            .thenComparing(Finding::engineId, Comparator.nullsFirst(SloBreaches::compareUtf8))
            .thenComparing(Finding::requestId, Comparator.nullsFirst(SloBreaches::compareUtf8))
            .thenComparing(Finding::lifetime, Comparator.nullsFirst(Comparator.naturalOrder()))
            .thenComparing(Finding::sequenceIndex, Comparator.nullsFirst(Comparator.naturalOrder()))
            .thenComparing(Finding::rule, SloBreaches::compareUtf8);

    private final SloQueries queries;
    private final SloLimits limits;

    /** The breaches of an archive. */
    public SloBreaches(ResultArchive archive, SloLimits limits) {
        this.queries = new SloQueries(archive);
        this.limits = limits;
    }

    /** Gives findings and breaches to whoever takes them, in one order. */
    public interface Taker {
        /** Takes one; {@code breach} is absent where it is a finding of the archive. */
        void take(Finding finding, @Nullable SloBreach breach) throws IOException;
    }

    /**
     * Merges the archive's findings with the breaches.
     *
     * @param findings in their public order, most severe first where {@code bySeverity}
     */
    public void merge(RowCursor<Finding> findings, FindingFilter filter, boolean bySeverity, Taker taker)
            throws IOException {
        Comparator<Finding> order =
                bySeverity ? Comparator.comparingInt(SloBreaches::mildness).thenComparing(PUBLIC_ORDER) : PUBLIC_ORDER;
        Comparator<Finding> total = order.thenComparing(Finding::findingId, SloBreaches::compareUtf8);
        Taker merging = (breachFinding, breach) -> {
            for (Finding next = findings.peek();
                    next != null && total.compare(next, breachFinding) <= 0;
                    next = findings.peek()) {
                taker.take(findings.next(), null);
            }
            taker.take(breachFinding, breach);
        };
        try (RowCursor<SloRow> rows = queries.asFindings(asked(filter), bySeverity)) {
            // Those that only their id sets apart: the undated ones of one sequence.
            List<SloBreach> alike = new ArrayList<>();
            while (rows.hasNext()) {
                SloBreach breach = of(rows.next());
                if (!alike.isEmpty() && order.compare(alike.get(0).finding(), breach.finding()) != 0) {
                    give(alike, merging);
                }
                alike.add(breach);
            }
            give(alike, merging);
        }
        while (findings.hasNext()) {
            taker.take(findings.next(), null);
        }
    }

    private static int mildness(Finding finding) {
        return -Severity.valueOf(finding.severity().toUpperCase(Locale.ROOT)).ordinal();
    }

    private static void give(List<SloBreach> alike, Taker taker) throws IOException {
        alike.sort(Comparator.comparing(breach -> breach.finding().findingId()));
        for (SloBreach breach : alike) {
            taker.take(breach.finding(), breach);
        }
        alike.clear();
    }

    /** Whether there is a breach that these findings would hold. */
    public boolean any(FindingFilter filter) {
        try (RowCursor<SloRow> rows = queries.asFindings(asked(filter), false)) {
            return rows.hasNext();
        }
    }

    /** The breaches of sequences and tokens, in their order. */
    public RowCursor<SloRow> bySequence(RequestFilter filter) {
        return queries.bySequence(asked(new FindingFilter(filter.request(), null, null)), filter.sequenceIndex());
    }

    private SloFilter asked(FindingFilter filter) {
        return new SloFilter(limits.ttftNanos(), limits.gapNanos(), CRITICAL_FACTOR, filter);
    }

    /** How many first tokens and gaps are beyond their limit, in words: {@code ttft 2,000 ms: 3 of 40; gap 300 ms: none of 5,000}. */
    public List<Tally> tallies() {
        List<Tally> tallies = new ArrayList<>();
        long[] beyond = new long[2];
        try (RowCursor<SloRow> rows = queries.asFindings(asked(FindingFilter.ALL), false)) {
            while (rows.hasNext()) {
                beyond[rows.next().ofFirstToken() ? 0 : 1]++;
            }
        }
        if (limits.ttftNanos() != null) {
            tallies.add(new Tally("ttft", limits.ttftNanos(), beyond[0], queries.knownFirstTokens()));
        }
        if (limits.gapNanos() != null) {
            tallies.add(new Tally("gap", limits.gapNanos(), beyond[1], queries.knownGaps()));
        }
        return tallies;
    }

    /**
     * How often a limit was broken.
     *
     * @param slo ttft or gap
     * @param limitNanos the limit
     * @param beyond how many took longer
     * @param known how many are known
     */
    public record Tally(String slo, long limitNanos, long beyond, long known) {}

    // ---- one breach

    /** A breach as a finding. */
    public SloBreach of(SloRow row) {
        Long given = row.ofFirstToken() ? limits.ttftNanos() : limits.gapNanos();
        long limit = given == null ? 0 : given;
        TokenAnalysis token = row.token();
        Map<String, Long> parts = row.ofFirstToken() ? ofFirstToken(row) : ofGap(row);
        Why why = row.ofFirstToken() ? whyFirstToken(row) : whyGap(row);
        List<EvidenceSentence> chain = token == null
                ? List.of()
                : token.chain().stream().map(EvidenceSentence::parse).toList();
        List<String> cited = chain.isEmpty() ? List.of() : chain.get(0).evidence();
        List<String> sentences = new ArrayList<>();
        sentences.add(sentence(row, limit) + (cited.isEmpty() ? "" : " [" + String.join(", ", cited) + "]"));
        if (token != null) {
            sentences.addAll(token.chain());
        }
        Set<String> evidence = new LinkedHashSet<>();
        chain.forEach(each -> evidence.addAll(each.evidence()));
        int index = token == null ? 0 : token.tokenIndex();
        String slo = row.ofFirstToken() ? "ttft" : "gap";
        Finding finding = new Finding(
                "",
                "slo-" + slo,
                1,
                why.cause,
                (row.measuredNanos() / CRITICAL_FACTOR >= limit ? Severity.CRITICAL : Severity.WARNING).severityName(),
                row.engineId(),
                row.key().requestId(),
                row.key().lifetime(),
                row.key().sequenceIndex(),
                row.fromEpochNanos(),
                row.toEpochNanos(),
                token == null || row.toEpochNanos() == null ? null : token.boundNanos(),
                index,
                index,
                why.culprit,
                why.confidence,
                why.text,
                List.copyOf(evidence),
                row.missingLayers(),
                List.copyOf(parts.keySet()),
                List.copyOf(parts.values()),
                String.join(" ", sentences));
        String basis = row.delivered() ? "delivered" : "produced";
        return new SloBreach(identified(finding, limit), slo, limit, row.measuredNanos(), basis);
    }

    private static String sentence(SloRow row, long limit) {
        String measured = Milliseconds.text(row.measuredNanos());
        String most = Milliseconds.text(limit);
        if (row.ofFirstToken()) {
            return Phrase.OVER_TTFT.say(measured, most);
        }
        int index = row.token() == null ? 0 : row.token().tokenIndex();
        return (row.delivered() ? Phrase.OVER_GAP_ARRIVED : Phrase.OVER_GAP).say(index, measured, most);
    }

    /** What one measure is made of; sums to it exactly. What no part covers is unexplained: for a first token the way to the queue. */
    private static Map<String, Long> ofFirstToken(SloRow row) {
        Map<String, Long> parts = new LinkedHashMap<>();
        TokenAnalysis token = row.token();
        if (token != null && !"delivered".equals(token.gapBasis())) {
            TokenParts.ofGap(token).forEach(part -> parts.merge(part.name(), part.nanos(), Long::sum));
            TokenParts.ofDelivery(token).forEach(part -> parts.merge(part.name(), part.nanos(), Long::sum));
        }
        return filled(parts, row.measuredNanos());
    }

    private static Map<String, Long> ofGap(SloRow row) {
        Map<String, Long> parts = new LinkedHashMap<>();
        TokenAnalysis token = row.token();
        if (token != null) {
            TokenParts.ofGap(token).forEach(part -> parts.merge(part.name(), part.nanos(), Long::sum));
            if (row.delivered() && !"delivered".equals(token.gapBasis())) {
                TokenParts.ofDelivery(token).forEach(part -> parts.merge(part.name(), part.nanos(), Long::sum));
                DeliveryPart[] all = DeliveryPart.values();
                for (int i = 0; i < all.length; i++) {
                    Long before = row.before().get(i + 1);
                    if (before != null) {
                        parts.merge(all[i].partName(), -before, Long::sum);
                    }
                }
            }
        }
        return filled(parts, row.measuredNanos());
    }

    private static Map<String, Long> filled(Map<String, Long> parts, long measuredNanos) {
        long rest = measuredNanos
                - parts.values().stream().mapToLong(Long::longValue).sum();
        if (rest != 0 || parts.isEmpty()) {
            parts.merge(Part.UNEXPLAINED.partName(), rest, Long::sum);
        }
        return parts;
    }

    /** Why it took so long, as far as the token says it. */
    private record Why(String cause, @Nullable String culprit, String confidence, String text) {
        static final Why NONE = new Why("", null, Confidence.UNRESOLVED.levelName(), Phrase.WHY_NOT_SLOW.say());

        static Why ofGap(TokenAnalysis token) {
            return new Why(
                    token.cause() == null ? "" : token.cause(),
                    token.culpritRequestId(),
                    token.confidence() == null ? Confidence.UNRESOLVED.levelName() : token.confidence(),
                    token.confidenceWhy() == null ? "" : token.confidenceWhy());
        }

        static Why ofDelivery(String cause) {
            boolean unresolved = cause.equals(Cause.UNRESOLVED_STALL.name());
            return new Why(
                    cause,
                    cause.equals(Cause.CLIENT_SLOW.name())
                            ? "client"
                            : cause.equals(Cause.GATEWAY_BUFFERING.name()) ? "gateway" : null,
                    (unresolved ? Confidence.UNRESOLVED : Confidence.CONSISTENT_WITH).levelName(),
                    unresolved ? Phrase.WHY_NO_STAMP.say() : Phrase.WHY_DELIVERED_LATE.say());
        }
    }

    private static Why whyGap(SloRow row) {
        TokenAnalysis token = row.token();
        if (token == null) {
            return Why.NONE;
        }
        String late = token.deliveryCause();
        Long delivery = token.deliveryNanos();
        Long deliveryBefore = row.before().get(0);
        Long excess = token.excessNanos();
        long lateNanos = delivery == null || deliveryBefore == null ? 0 : delivery - deliveryBefore;
        long lost = excess == null ? 0 : excess;
        if (late != null && row.delivered() && (token.cause() == null || lateNanos > lost)) {
            return Why.ofDelivery(late);
        }
        return token.cause() == null || token.cause().equals(Cause.MULTI_TOKEN_CHUNK.name())
                ? Why.NONE
                : Why.ofGap(token);
    }

    private static Why whyFirstToken(SloRow row) {
        TokenAnalysis token = row.token();
        if (token == null) {
            return Why.NONE;
        }
        Long gap = token.gapNanos();
        Long delivery = token.deliveryNanos();
        boolean produced = gap != null && !"delivered".equals(token.gapBasis());
        long made = gap == null || !produced ? 0 : gap;
        long delivered = delivery == null ? 0 : delivery;
        long before = row.measuredNanos() - made - delivered;
        if (produced && before > made && before > delivered) {
            return new Why(Cause.UNRESOLVED_STALL.name(), null, Confidence.UNRESOLVED.levelName(), BEFORE_THE_QUEUE);
        }
        if (token.deliveryCause() != null && (token.cause() == null || delivered > made)) {
            return Why.ofDelivery(token.deliveryCause());
        }
        return token.cause() == null ? Why.NONE : Why.ofGap(token);
    }

    // ---- identity and order

    private static Finding identified(Finding finding, long limit) {
        return finding.withId(ContentHash.of(
                finding.rule(),
                Long.toString(limit),
                finding.cause(),
                String.valueOf(finding.engineId()),
                String.valueOf(finding.requestId()),
                String.valueOf(finding.lifetime()),
                String.valueOf(finding.sequenceIndex()),
                String.valueOf(finding.firstTokenIndex()),
                String.valueOf(finding.fromEpochNanos()),
                String.valueOf(finding.toEpochNanos()),
                finding.narrative()));
    }

    private static int compareUtf8(String a, String b) {
        return Arrays.compareUnsigned(a.getBytes(StandardCharsets.UTF_8), b.getBytes(StandardCharsets.UTF_8));
    }
}
