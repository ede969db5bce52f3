package io.tokenstair.job.rule;

import io.tokenstair.event.EventHeader;
import io.tokenstair.event.LoggedEvent;
import io.tokenstair.event.Rejected;
import io.tokenstair.event.RuleRevised;
import io.tokenstair.event.wire.EventCodec;
import io.tokenstair.event.wire.WireException;
import io.tokenstair.job.source.RawRecord;
import io.tokenstair.rule.RuleException;
import io.tokenstair.rule.bound.BoundRule;
import io.tokenstair.rule.bound.RuleBinder;
import io.tokenstair.spelling.NearestName;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Takes revisions of rules and says from when each is in force: not before its sender wants it, and after all event time that is
 * complete. What does not bind, or contradicts what is known, is refused with its reason, and the rule that runs stays.
 */
final class RuleScheduling {
    /** Most rules in force at once. */
    static final int MAX_RULES = 1_000;

    /** Most versions of one rule whose texts are told apart; of older ones it is forgotten that they were. */
    static final int MAX_VERSIONS = 100;

    /** Most revisions that came within {@link RuleTimeline#MEMORY_MILLIS}: those may still be wanted by who matches. */
    static final int MAX_RECENT = 10_000;

    /** Most text of those revisions, in characters. */
    static final long MAX_RECENT_LENGTH = 64 << 20;

    private static final int EXCERPT_LENGTH = 200;

    private final SchedulingState state;
    private final Output output;

    /** Takes what is decided. */
    interface Output {
        /** A revision with its instant. */
        void scheduled(ScheduledRule rule);

        /** The revision, or what is refused, as the event to archive. */
        void archived(LoggedEvent event);
    }

    /** Decides over a state. */
    RuleScheduling(SchedulingState state, Output output) {
        this.state = state;
        this.output = output;
    }

    /**
     * Schedules the rules a job starts with: all of them in a new job, what differs from the last start in a restored one. A rule that
     * someone revised since its start is left alone unless the start brings another version of it.
     */
    void start(List<BoundRule> rules) {
        Map<String, String> now = new TreeMap<>();
        for (BoundRule rule : rules) {
            String text = rule.source().text();
            now.put(rule.id(), rule.revision() + " " + hash(text));
            if (!now.get(rule.id()).equals(state.startRules.get(rule.id()))) {
                fromStart(new RuleRevised(
                        rule.id(),
                        rule.revision(),
                        RuleRevised.SET,
                        text,
                        null,
                        null,
                        null,
                        rule.source().file()));
            }
        }
        for (String gone : state.startRules.keySet().stream().sorted().toList()) {
            KnownRule known = state.rules.get(gone);
            if (!now.containsKey(gone) && known != null && known.fromStart && !known.retired) {
                fromStart(new RuleRevised(gone, null, RuleRevised.RETIRE, null, null, null, null, "start"));
            }
        }
        state.startRules = new HashMap<>(now);
    }

    private void fromStart(RuleRevised revised) {
        EventHeader header = new EventHeader("rules/start", 0, state.nextIndex, "none", null, null);
        String problem = decide(header, revised, true);
        if (problem != null) {
            EventHeader refusal = new EventHeader("rules/start-refused", 0, state.refusedStarts++, "none", null, null);
            refuse(refusal, revised.source(), problem, excerpt(revised));
        }
    }

    /** Takes a record of the control log, or a revision of the event log. */
    void take(RawRecord record) {
        EventHeader refusal = new EventHeader(
                "rules/" + record.origin,
                0,
                record.ordinal,
                "none",
                null,
                record.isDated() ? Long.valueOf(record.coarseEpochMillis) : null);
        LoggedEvent logged;
        try {
            logged = EventCodec.decode(record.bytes);
        } catch (WireException e) {
            refuse(refusal, record.origin, "record " + record.ordinal + ": " + e.getMessage(), null);
            return;
        }
        if (!(logged.event() instanceof RuleRevised revised)) {
            refuse(
                    refusal,
                    record.origin,
                    "record " + record.ordinal + ": " + logged.event().kind().catalogName()
                            + " is no revision of a rule",
                    null);
            return;
        }
        String problem = decide(logged.header(), revised, false);
        if (problem != null) {
            refuse(refusal, record.origin, "record " + record.ordinal + ": " + problem, excerpt(revised));
        }
    }

    /**
     * Passes on revisions that were given their instants before; those that never were hold from when their senders wanted, or from the
     * beginning, in the order of events.
     *
     * @param archived all revisions of an archive, in any order, perhaps some twice
     * @param start the rules in force where no revision has an instant
     */
    void replay(List<LoggedEvent> archived, List<BoundRule> start) {
        List<LoggedEvent> ordered = new ArrayList<>(archived);
        ordered.sort(Comparator.comparing(LoggedEvent::header, EventHeader.ORDER));
        long next = 0;
        for (LoggedEvent logged : ordered) {
            if (logged.event() instanceof RuleRevised revised
                    && revised.effectiveMillis() != null
                    && revised.scheduleIndex() != null) {
                next = Math.max(next, revised.scheduleIndex() + 1);
                output.scheduled(replayed(revised));
            }
        }
        if (next == 0) {
            start(start);
        }
        state.nextIndex = Math.max(next, state.nextIndex);
        EventHeader before = null;
        for (LoggedEvent logged : ordered) {
            if (logged.event() instanceof RuleRevised revised
                    && (revised.effectiveMillis() == null || revised.scheduleIndex() == null)
                    && !logged.header().equals(before)) {
                before = logged.header();
                String problem = decide(logged.header(), revised, false);
                if (problem != null) {
                    refuse(logged.header(), revised.source(), problem, excerpt(revised));
                }
            }
        }
    }

    private static ScheduledRule replayed(RuleRevised revised) {
        long effective = revised.effectiveMillis() == null ? ScheduledRule.BEGINNING : revised.effectiveMillis();
        long index = revised.scheduleIndex() == null ? 0 : revised.scheduleIndex();
        if (revised.text() == null) {
            return new ScheduledRule(revised.ruleId(), 0, index, effective, null, revised.source(), null);
        }
        try {
            BoundRule rule = RuleBinder.bind(revised.source(), revised.text());
            return scheduled(rule, index, effective, revised.source(), revised.text());
        } catch (RuleException e) {
            throw new IllegalStateException(
                    "Cannot replay version " + revised.version() + " of rule " + revised.ruleId()
                            + ", which was in force: " + e.getMessage(),
                    e);
        }
    }

    private static ScheduledRule scheduled(BoundRule rule, long index, long effective, String source, String text) {
        return new ScheduledRule(rule.id(), rule.revision(), index, effective, rule.key(), source, text);
    }

    /** Schedules a revision; else says why not. */
    private @Nullable String decide(EventHeader header, RuleRevised revised, boolean fromStart) {
        forgetRecent();
        if (state.watermarkMillis == Long.MAX_VALUE) {
            return "the events have ended: nothing can be in force any more";
        }
        return switch (revised.action()) {
            case RuleRevised.SET -> decideSet(header, revised, fromStart);
            case RuleRevised.RETIRE -> decideRetire(header, revised, fromStart);
            default -> "action " + clipped(revised.action()) + " is neither set nor retire";
        };
    }

    private @Nullable String decideSet(EventHeader header, RuleRevised revised, boolean fromStart) {
        String text = revised.text();
        if (text == null) {
            return "a rule that is set needs its text";
        }
        BoundRule rule;
        try {
            rule = RuleBinder.bind(revised.source(), text);
        } catch (RuleException e) {
            return String.valueOf(e.getMessage()).lines().findFirst().orElse("no rule");
        } catch (RuntimeException e) {
            // Whatever a text does to who reads it, the job goes on.
            return "no rule: " + e.getMessage();
        }
        if (!rule.id().equals(revised.ruleId())) {
            return "the text is of rule " + rule.id() + ", not of " + clipped(revised.ruleId());
        }
        if (revised.version() != null && revised.version() != rule.revision()) {
            return "the text is of version " + rule.revision() + ", not of " + revised.version();
        }
        KnownRule known = state.rules.get(rule.id());
        String hash = hash(text);
        if (known != null) {
            String before = known.textHashes.get(rule.revision());
            if (before != null && !before.equals(hash)) {
                return "version " + rule.revision() + " of rule " + rule.id()
                        + " has another text: give the new text a higher version";
            }
            int newest = ((TreeMap<Integer, String>) new TreeMap<>(known.textHashes)).lastKey();
            if (before == null && rule.revision() < newest) {
                return "version " + rule.revision() + " of rule " + rule.id() + " is below version " + newest
                        + " and was never in force: give it a higher version";
            }
        }
        if ((known == null || known.retired)
                && state.rules.values().stream().filter(other -> !other.retired).count() >= MAX_RULES) {
            return MAX_RULES + " rules are in force: retire one first";
        }
        long length = 0;
        for (int each : state.recentLengths) {
            length += each;
        }
        if (state.recentMillis.size() >= MAX_RECENT || length + text.length() > MAX_RECENT_LENGTH) {
            return "too many revisions within " + RuleTimeline.MEMORY_MILLIS / 3_600_000
                    + " h: requests that still run under them must be over first";
        }
        long effective = effective(
                revised.effectiveFromMillis() != null ? revised.effectiveFromMillis() : rule.effectiveFromMillis());
        KnownRule now = known == null ? new KnownRule() : known;
        now.textHashes.put(rule.revision(), hash);
        if (now.textHashes.size() > MAX_VERSIONS) {
            now.textHashes.remove(new TreeMap<>(now.textHashes).firstKey());
        }
        now.version = rule.revision();
        now.retired = false;
        accept(rule.id(), now, effective, fromStart, text.length());
        output.scheduled(scheduled(rule, now.scheduleIndex, effective, revised.source(), text));
        archive(header, revised, rule.revision(), now);
        return null;
    }

    private @Nullable String decideRetire(EventHeader header, RuleRevised revised, boolean fromStart) {
        KnownRule known = state.rules.get(revised.ruleId());
        if (known == null) {
            String nearest = NearestName.of(
                    revised.ruleId(),
                    state.rules.entrySet().stream()
                            .filter(entry -> !entry.getValue().retired)
                            .map(Map.Entry::getKey)
                            .sorted()
                            .toList());
            return "there is no rule " + clipped(revised.ruleId())
                    + (nearest == null ? "" : ". Did you mean " + nearest + "?");
        }
        if (revised.version() != null && (known.retired || revised.version() != known.version)) {
            return "version " + revised.version() + " of rule " + revised.ruleId() + " is not the last one";
        }
        long effective = effective(revised.effectiveFromMillis());
        if (known.retired && known.effectiveMillis <= effective) {
            return "rule " + revised.ruleId() + " is retired already";
        }
        known.retired = true;
        accept(revised.ruleId(), known, effective, fromStart, 0);
        output.scheduled(
                new ScheduledRule(revised.ruleId(), 0, known.scheduleIndex, effective, null, revised.source(), null));
        archive(header, revised, known.version, known);
        forgetRetired();
        return null;
    }

    private void accept(String id, KnownRule rule, long effective, boolean fromStart, int length) {
        rule.fromStart = fromStart;
        rule.scheduleIndex = state.nextIndex++;
        rule.effectiveMillis = effective;
        state.rules.put(id, rule);
        state.recentMillis.add(effective);
        state.recentLengths.add(length);
    }

    private void archive(EventHeader header, RuleRevised revised, int version, KnownRule rule) {
        output.archived(new LoggedEvent(
                header,
                new RuleRevised(
                        revised.ruleId(),
                        version,
                        revised.action(),
                        revised.text(),
                        revised.effectiveFromMillis(),
                        rule.effectiveMillis,
                        rule.scheduleIndex,
                        revised.source())));
    }

    /** Behind all event time that is complete; before the first watermark none is, and a rule holds from the beginning. */
    private long effective(@Nullable Long wanted) {
        long from = wanted == null ? ScheduledRule.BEGINNING : Math.max(wanted, ScheduledRule.BEGINNING);
        return state.watermarkMillis == Long.MIN_VALUE ? from : Math.max(from, state.watermarkMillis + 1);
    }

    private void forgetRecent() {
        long before = state.watermarkMillis == Long.MIN_VALUE
                ? Long.MIN_VALUE
                : state.watermarkMillis - RuleTimeline.MEMORY_MILLIS;
        for (int i = state.recentMillis.size() - 1; i >= 0; i--) {
            if (state.recentMillis.get(i) < before) {
                state.recentMillis.remove(i);
                state.recentLengths.remove(i);
            }
        }
    }

    /** Of the retired rules the one that was retired first is forgotten. */
    private void forgetRetired() {
        List<Map.Entry<String, KnownRule>> retired = state.rules.entrySet().stream()
                .filter(entry -> entry.getValue().retired)
                .toList();
        if (retired.size() > MAX_RULES) {
            retired.stream()
                    .min(Comparator.comparingLong(entry -> entry.getValue().scheduleIndex))
                    .ifPresent(first -> state.rules.remove(first.getKey()));
        }
    }

    private void refuse(EventHeader header, String source, String reason, @Nullable String excerpt) {
        output.archived(new LoggedEvent(header, new Rejected(source, null, null, reason, excerpt)));
    }

    private static @Nullable String excerpt(RuleRevised revised) {
        String text = revised.text();
        return text == null ? null : escaped(text.substring(0, Math.min(text.length(), EXCERPT_LENGTH)));
    }

    private static String clipped(String name) {
        return escaped(name.substring(0, Math.min(name.length(), EXCERPT_LENGTH)));
    }

    /** Control and format characters become spaces: a refused text cannot steer a terminal. */
    private static String escaped(String text) {
        StringBuilder escaped = new StringBuilder(text.length());
        text.chars().forEach(c -> {
            boolean steers = Character.isISOControl(c) || Character.getType(c) == Character.FORMAT;
            escaped.append(steers ? ' ' : (char) c);
        });
        return escaped.toString();
    }

    private static String hash(String text) {
        try {
            return HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Cannot find SHA-256", e);
        }
    }
}
