package io.tokenstair.rule.bound;

import io.tokenstair.milestone.Milestone;
import io.tokenstair.rule.syntax.ScalarSyntax;
import io.tokenstair.rule.syntax.Spelling;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The sentences a rule says about a match, their placeholders looked up. */
final class FindingText {
    private static final Pattern BRACED = Pattern.compile("\\{([^{}]*)\\}|[{}]");
    private static final int MAX_CITED_PER_SENTENCE = 8;
    private static final int NO_STAGE = -1;

    /** In place of a field: how many milestones the stage took. */
    private static final String COUNT = "count";

    private final List<Sentence> sentences;

    private FindingText(List<Sentence> sentences) {
        this.sentences = sentences;
    }

    /**
     * The sentences with each {@code {stage.field}} looked up.
     *
     * @param finding what the rule says
     * @param stageNames names of all stages, in order
     * @param absentNames those of them that take no milestone
     */
    static FindingText bind(List<ScalarSyntax> finding, List<String> stageNames, Set<String> absentNames) {
        return new FindingText(finding.stream()
                .map(text -> sentence(text, stageNames, absentNames))
                .toList());
    }

    /** The sentences about a match, each followed by the ids of the events it rests on. */
    String of(List<List<Milestone>> matched) {
        return sentences.stream().map(sentence -> sentence.of(matched)).collect(Collectors.joining(" "));
    }

    private static Sentence sentence(ScalarSyntax text, List<String> stageNames, Set<String> absentNames) {
        String value = text.value().strip();
        if (!value.endsWith(".")) {
            throw text.error("Cannot use a sentence of finding that does not end with a full stop");
        }
        // The citation stands before the full stop.
        String body = value.substring(0, value.length() - 1);
        List<Piece> pieces = new ArrayList<>();
        Set<Integer> stages = new TreeSet<>();
        int shift = text.value().indexOf(value);
        Matcher braced = BRACED.matcher(body);
        int plainFrom = 0;
        while (braced.find()) {
            pieces.add(new Piece(body.substring(plainFrom, braced.start()), NO_STAGE, null));
            int at = shift + braced.start();
            Piece piece = placeholder(text, at, braced.group(1), stageNames, absentNames);
            stages.add(piece.stage());
            pieces.add(piece);
            plainFrom = braced.end();
        }
        pieces.add(new Piece(body.substring(plainFrom), NO_STAGE, null));
        List<Integer> cited =
                stages.isEmpty() ? IntStream.range(0, stageNames.size()).boxed().toList() : List.copyOf(stages);
        return new Sentence(List.copyOf(pieces), cited);
    }

    private static Piece placeholder(
            ScalarSyntax text, int at, @Nullable String words, List<String> stageNames, Set<String> absentNames) {
        if (words == null) {
            throw text.errorAt(at, "Cannot read a placeholder: write {stage.field}");
        }
        int dot = words.indexOf('.');
        if (dot < 0) {
            throw text.errorAt(at, "Cannot read a placeholder: {" + words + "}: write {stage.field}");
        }
        String stageName = words.substring(0, dot);
        int stage = stageNames.indexOf(stageName);
        if (stage < 0) {
            throw text.errorAt(at + 1, "Cannot find stage: " + stageName + Spelling.suggestion(stageName, stageNames));
        }
        if (absentNames.contains(stageName)) {
            throw text.errorAt(at + 1, "Cannot fill in an absent stage, which takes no milestone: " + stageName);
        }
        String fieldName = words.substring(dot + 1);
        if (fieldName.equals(COUNT)) {
            return new Piece("", stage, null);
        }
        RuleField field = FieldCatalog.find(fieldName);
        if (field == null) {
            throw text.errorAt(
                    at + 2 + dot,
                    "Cannot find field: " + fieldName + Spelling.suggestion(fieldName, FieldCatalog.names()));
        }
        return new Piece("", stage, field);
    }

    /** A value as findings tell it. */
    static String shown(FieldUnit unit, @Nullable Object value) {
        if (value == null) {
            return "unknown";
        }
        return switch (unit) {
            case NAME -> printable(value.toString());
            case CAUSE, ORDINAL, PRIORITY, TOKENS, BLOCKS, SEQUENCES -> value.toString();
            case RATIO ->
                BigDecimal.valueOf((Double) value)
                                .movePointRight(2)
                                .setScale(1, RoundingMode.HALF_UP)
                                .toPlainString()
                        + " %";
            case DURATION, ENGINE_TIME -> time((Long) value);
        };
    }

    private static String time(long nanos) {
        long size = Math.abs(nanos);
        if (size >= 1_000_000_000L) {
            return rounded(nanos, 9, 3) + " s";
        }
        return size >= 1_000_000L ? rounded(nanos, 6, 1) + " ms" : rounded(nanos, 3, 1) + " us";
    }

    private static String rounded(long nanos, int point, int decimals) {
        return BigDecimal.valueOf(nanos, point)
                .setScale(decimals, RoundingMode.HALF_UP)
                .toPlainString();
    }

    /** Ids come from clients: what could steer a terminal is written as its number. */
    private static String printable(String name) {
        StringBuilder printed = new StringBuilder();
        name.codePoints().forEach(c -> {
            int type = Character.getType(c);
            boolean hidden = Character.isISOControl(c)
                    || type == Character.FORMAT
                    || type == Character.SURROGATE
                    || type == Character.LINE_SEPARATOR
                    || type == Character.PARAGRAPH_SEPARATOR;
            if (hidden) {
                printed.append("\\u{%x}".formatted(c));
            } else {
                printed.appendCodePoint(c);
            }
        });
        return printed.toString();
    }

    /** Plain text, or a field of the last milestone a stage took, or without a field how many it took. */
    private record Piece(String plain, int stage, @Nullable RuleField field) {
        String of(List<List<Milestone>> matched) {
            if (stage == NO_STAGE) {
                return plain;
            }
            List<Milestone> taken = matched.get(stage);
            if (field == null) {
                return String.valueOf(taken.size());
            }
            return shown(field.unit(), taken.isEmpty() ? null : field.value().apply(taken.get(taken.size() - 1)));
        }
    }

    private record Sentence(List<Piece> pieces, List<Integer> citedStages) {
        String of(List<List<Milestone>> matched) {
            String body = pieces.stream().map(piece -> piece.of(matched)).collect(Collectors.joining());
            Set<String> cited = new LinkedHashSet<>();
            for (int stage : citedStages) {
                matched.get(stage).forEach(milestone -> cited.addAll(milestone.evidence()));
            }
            if (cited.isEmpty()) {
                // A sentence about stages that were left out rests on the match as a whole.
                matched.forEach(stage -> stage.forEach(milestone -> cited.addAll(milestone.evidence())));
            }
            String ids = cited.stream()
                    .limit(MAX_CITED_PER_SENTENCE)
                    .map(FindingText::printable)
                    .collect(Collectors.joining(", "));
            int more = cited.size() - MAX_CITED_PER_SENTENCE;
            return body + " [" + ids + (more > 0 ? " and " + more + " more" : "") + "].";
        }
    }
}
