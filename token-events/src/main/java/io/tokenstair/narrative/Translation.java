package io.tokenstair.narrative;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Archived English told in another language: the template of each sentence is found again, and filled in the other language with the same
 * values. What is none of the set, such as the words of somebody's own rule, stays as it is.
 */
public final class Translation {
    /** After the ids of a sentence; a rule's own sentences have theirs before the full stop. */
    private static final Pattern BETWEEN_SENTENCES = Pattern.compile("(?<=\\]|\\]\\.)\\s+(?=[^\\[\\s])");

    private static final Pattern STOP = Pattern.compile("\\. (?=\\p{Lu}|\\d)");
    private static final Pattern LIST = Pattern.compile(", ");
    private static final Pattern CLAUSES = Pattern.compile("; ");
    private static final Pattern IDS = Pattern.compile("(?s)(.*?)( \\[[^\\[\\]]*])?(\\.?)");
    private static final Map<String, String> WORDS = Map.ofEntries(
            Map.entry("another request", "另一个请求"),
            Map.entry(", each time for longer", "，且一次比一次长"),
            Map.entry("of the engine", "（引擎）"),
            Map.entry("they reached the gateway one by one", "它们是逐个到达网关的"),
            Map.entry("the engine made them one by one", "引擎是逐个产生它们的"),
            Map.entry("client", "客户端"),
            Map.entry("gateway", "网关"),
            Map.entry("a gateway held it", "网关扣留了它"),
            Map.entry("the gateway waited for the client to read", "网关在等待客户端读取"),
            Map.entry("it was on its way between the gateway and the client", "它正在网关与客户端之间传输"),
            Map.entry("it left the engine late", "它离开引擎时已经晚了"),
            Map.entry("no record tells where it waited", "没有记录说明它在哪里等待"),
            Map.entry("by its kernels", "据其 kernel"),
            Map.entry("by its clock alone", "仅据其时钟"),
            Map.entry("unknown", "未知"));
    /** Values that are words around numbers, and what they are in Chinese. */
    private static final Map<Pattern, String> NUMBERED = numbered(
            " and (\\d+) computed tokens", "和 $1 个已计算的 token",
            " with (\\d+) computed tokens", "，当时已计算 $1 个 token",
            "(\\d+) (?:decode )?steps?", "$1 步",
            "(\\d+) sequences?", "$1 个序列",
            "(\\d+ to \\d+) sequences", "$1 个序列",
            "(\\d+) preemptions?", "$1 次抢占",
            "(\\d+) prefix(?:es)?", "$1 个前缀",
            "(\\d+) groups?", "$1 组",
            "(\\d+) scrapes?", "$1 次采样",
            "(\\d+) runs?", "$1 次运行",
            "in step (\\d+)", "第 $1 步",
            "from step (\\d+) to (\\d+) \\((.+)\\)", "第 $1 至 $2 步，$3",
            "([\\d.]+) to ([\\d.]+ ms)", "$1 至 $2",
            "clock (-?[\\d.]+ s)", "时钟 $1",
            "(.+) for shape (.+)", "$1（形状 $2）",
            "(.+) of (\\d+) bytes", "$1（$2 字节）",
            "token (\\d+) (\\(\\+\\d+ %\\))", "第 $1 个 token $2");

    private Translation() {}

    /** An English sentence, with the ids at its end, in a language; unchanged where it is none of the set. */
    public static String sentence(Language language, String sentence) {
        String told = language == Language.EN ? null : translated(sentence);
        return told == null ? sentence : told;
    }

    /** The sentences of a narrative: each ends in the event ids it cites. */
    public static List<String> sentences(String narrative) {
        return BETWEEN_SENTENCES
                .splitAsStream(narrative.strip())
                .filter(sentence -> !sentence.isBlank())
                .toList();
    }

    /** A narrative in a language; sentences that are none of the set stay as they are. */
    public static String narrative(Language language, String narrative) {
        return language == Language.EN
                ? narrative
                : sentences(narrative).stream()
                        .map(sentence -> sentence(language, sentence))
                        .collect(Collectors.joining(" "));
    }

    /** Why something is as sure as it is, in a language; unchanged where it is none of the set. */
    public static String reason(Language language, String why) {
        String told = language == Language.EN ? null : filled(Phrase.Use.REASON, why);
        return told == null ? why : told;
    }

    /** A level of confidence in a language, for people to read. */
    public static String level(Language language, String level) {
        String told = language == Language.EN ? null : filled(Phrase.Use.LABEL, level);
        return told == null ? level : told;
    }

    private static @Nullable String translated(String sentence) {
        Matcher parts = IDS.matcher(sentence);
        if (!parts.matches()) {
            return null;
        }
        String ids = parts.group(2) == null ? "" : parts.group(2);
        // A sentence with its ids before the full stop is the one without them, and the full stop.
        String told = inARow(parts.group(1) + parts.group(3));
        return told == null ? null : told + ids;
    }

    /** One sentence, or several in a row without ids between them where each is of the set; null otherwise. */
    private static @Nullable String inARow(String text) {
        Matcher stop = STOP.matcher(text);
        while (stop.find()) {
            String first = filled(Phrase.Use.SENTENCE, text.substring(0, stop.start() + 1));
            String rest = first == null ? null : inARow(text.substring(stop.end()));
            if (rest != null) {
                return first + rest;
            }
        }
        return filled(Phrase.Use.SENTENCE, text);
    }

    private static @Nullable String filled(Phrase.Use use, String text) {
        Phrase phrase = Phrase.of(use, text);
        List<String> values = phrase == null ? null : phrase.valuesOf(text);
        return phrase == null || values == null
                ? null
                : phrase.say(
                        Language.ZH, values.stream().map(Translation::value).toArray());
    }

    private static String value(String value) {
        for (Map.Entry<Pattern, String> each : NUMBERED.entrySet()) {
            Matcher numbered = each.getKey().matcher(value);
            if (numbered.matches()) {
                return numbered.replaceAll(each.getValue());
            }
        }
        if (value.startsWith("token ") && value.contains(", token ")) {
            return LIST.splitAsStream(value).map(Translation::value).collect(Collectors.joining("，"));
        }
        String word = WORDS.get(value);
        String clauses = word == null ? clauses(value) : word;
        return clauses == null ? value : clauses;
    }

    /** A value that is clauses of the set, each after a semicolon; null where one of them is none. */
    private static @Nullable String clauses(String value) {
        List<String> told = new ArrayList<>();
        for (String clause : CLAUSES.split(value, -1)) {
            String one = clause.isEmpty() ? clause : filled(Phrase.Use.CLAUSE, clause);
            if (one == null) {
                return null;
            }
            told.add(one);
        }
        return String.join("；", told);
    }

    private static Map<Pattern, String> numbered(String... pairs) {
        Map<Pattern, String> numbered = new LinkedHashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            numbered.put(Pattern.compile(pairs[i]), pairs[i + 1]);
        }
        return numbered;
    }
}
