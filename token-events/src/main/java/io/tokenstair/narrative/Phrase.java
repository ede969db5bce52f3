package io.tokenstair.narrative;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The one set of sentences that a slow token is explained in. Archives hold the English text, with the ids of its events in brackets at the
 * end; another language is the same template with the same values, found again in the text. A test holds that every sentence the
 * analysis says is one of these.
 */
public enum Phrase {
    TOKEN_AFTER_QUEUEING(
            "Token {0} came {1} after queueing, in step {2}; a usual step takes {3}.",
            "第 {0} 个 token 在排队 {1} 之后产生，位于第 {2} 步；通常一步需要 {3}。"),
    TOKEN_AFTER_TOKEN(
            "Token {0} came {1} after the one before, in step {2}; a usual step takes {3}.",
            "第 {0} 个 token 比前一个晚 {1} 产生，位于第 {2} 步；通常一步需要 {3}。"),
    RECOMPUTED_OTHERS(
            "The step computed {0} tokens of {1} again, which had lost its blocks: {2}.",
            "该步为丢失了 KV 块的 {1} 重新计算了 {0} 个 token：{2}。"),
    PREFILLED_OTHERS(
            "The step also computed {0} new prompt tokens, most of them of {1}: {2}.",
            "该步还计算了 {0} 个新的 prompt token，其中大部分属于 {1}：{2}。"),
    STARVED_BY_PREFILL(
            "It was left out for {0} while steps ran prompt tokens only, last of {1}.",
            "它有 {0} 未被调度，期间各步只计算 prompt token，最后一个属于 {1}。"),
    STARVED_BY_BUDGET(
            "It was left out for {0} in steps whose token budget was used up.", "它有 {0} 未被调度，因为那些步的 token 预算已用完。"),
    WAITED_FOR_BLOCKS("It waited {0} for KV blocks while seats were free.", "它等待 KV 块 {0}，而当时仍有空闲席位。"),
    WAITED_FOR_A_SEAT("It waited {0} for a seat: {1} sequences may run at once.", "它等待席位 {0}：最多允许 {1} 个序列同时运行。"),
    WAITED_IN_THE_QUEUE("It waited {0} in the queue.", "它在队列中等待了 {0}。"),
    MORE_SEQUENCES("The step ran {0} sequences; usual are {1}: {2}.", "该步运行了 {0} 个序列，通常为 {1} 个：{2}。"),
    MORE_CONTEXT("The step read {0} tokens of context; usual are {1}: {2}.", "该步读取了 {0} 个 token 的上下文，通常为 {1} 个：{2}。"),
    OTHER_GRAPH_MODE("The step ran in graph mode {0}; usual is {1}: {2}.", "该步以 {0} 模式运行，通常为 {1}：{2}。"),
    THREADS_WITHOUT_A_CORE(
            "The engine's threads stood ready without a core for {0} more than usual.", "引擎线程就绪却得不到 CPU 核，比平时多 {0}。"),
    PROCESS_STOOD_STILL("The process {0} stood still for {1}.", "进程 {0} 停顿了 {1}。"),
    PROCESS_STOOD_STILL_FOR("The process {0} stood still ({1}) for {2}.", "进程 {0} 停顿了 {2}（{1}）。"),
    PROCESS_NEITHER_RAN("The engine's process neither ran nor was ready for {0}.", "引擎进程有 {0} 既未运行也未就绪。"),
    WAITED_FOR_REMOTE("It waited {0} for its KV blocks.", "它等待自己的 KV 块 {0}。"),
    WAITED_FOR_REMOTE_FROM("It waited {0} for its KV blocks from {1}.", "它等待来自 {1} 的 KV 块 {0}。"),
    WAITED_FOR_LOAD("It waited {0} for its KV blocks to be loaded.", "它等待自己的 KV 块载入 {0}。"),
    WAITED_FOR_LOAD_FROM("It waited {0} for its KV blocks to be loaded from {1}.", "它等待 KV 块从 {1} 载入 {0}。"),
    COMPILED("A kernel was compiled: {0}, {1}.", "编译了一个 kernel：{0}，{1}。"),
    MEMORY_LOOKED_FOR("Device memory was looked for ({0}): {1}.", "正在寻找显存（{0}）：{1}。"),
    MEMORY_LOOKED_FOR_ON("Device memory was looked for ({0}) on {1}: {2}.", "在 {1} 上寻找显存（{0}）：{2}。"),
    ALLOCATOR_COUNTS("The allocator's count of retries or failures rose, and {0} remain.", "分配器的重试或失败次数上升，剩余 {0}。"),
    ALLOCATOR_COUNTS_ON(
            "The allocator's count of retries or failures rose on {0}, and {1} remain.", "{0} 上分配器的重试或失败次数上升，剩余 {1}。"),
    WAITED_FOR_THE_DEVICE("A call waited for the device ({0}): {1}.", "一次调用等待设备（{0}）：{1}。"),
    DRIVER_RETURNED("The driver returned error {0}, and {1} went by around it.", "驱动返回错误 {0}，其前后共耗去 {1}。"),
    CLOCK_LOWER("The clock was lower than usual, and the step longer {0}: {1}.", "设备时钟低于平时，该步变长 {0}：{1}。"),
    CLOCK_LOWER_ON("The clock was lower than usual on {0}, and the step longer {1}: {2}.", "{0} 的时钟低于平时，该步变长 {1}：{2}。"),
    COLLECTIVE("It waited in a collective ({0}): {1}.", "它在集合通信中等待（{0}）：{1}。"),
    COLLECTIVE_FOR("It waited in a collective ({0}) for {1}: {2}.", "它在集合通信中等待 {1}（{0}）：{2}。"),
    KERNELS_LONGER("Kernels took longer than they usually do, most of all {0}: {1}.", "kernel 比平时更慢，最主要的是 {0}：{1}。"),
    KERNELS_LONGER_ON(
            "Kernels took longer than they usually do on {0}, most of all {1}: {2}.",
            "{0} 上的 kernel 比平时更慢，最主要的是 {1}：{2}。"),
    NO_STEP("No step was in flight for {0}.", "有 {0} 没有任何步在执行。"),
    UNRESOLVED(
            "{0} remain beyond what the model expects ({1}), and no record names their cause.",
            "超出模型预期（{1}）的 {0} 没有任何记录能说明原因。"),
    MORE_UNEXPLAINED("{0} more remain unexplained.", "另有 {0} 仍无法解释。"),
    LOST_BLOCKS_BY_ITSELF(
            "In step {0} it lost its KV blocks{1}: it needed a block itself and none was free.",
            "在第 {0} 步，它失去了 KV 块{1}：它自己需要一个块而没有空闲块。"),
    LOST_BLOCKS_NONE_FREE("In step {0} it lost its KV blocks{1}: no block was free.", "在第 {0} 步，它失去了 KV 块{1}：没有空闲块。"),
    LOST_BLOCKS_FOR(
            "In step {0} it lost its KV blocks{1}: {2} needed a block and none was free.",
            "在第 {0} 步，它失去了 KV 块{1}：{2} 需要一个块而没有空闲块。"),
    WAITED_TO_RESUME("It waited {0} to be scheduled again.", "它等待再次被调度 {0}。"),
    CAME_BACK("It came back and computed {0} tokens again: {1}.", "它恢复运行并重新计算了 {0} 个 token：{1}。"),
    CAME_BACK_IN_STEP(
            "It came back in step {0} and computed {1} tokens again: {2}.", "它在第 {0} 步恢复运行并重新计算了 {1} 个 token：{2}。"),
    LATER_THAN_USUAL("Token {0} reached the {1} {2} later than usual: {3}.", "第 {0} 个 token 到达{1}比平时晚 {2}：{3}。"),
    AFTER_ITS_STEP("Token {0} reached the {1} {2} after its step ended: {3}.", "第 {0} 个 token 在其步结束 {2} 之后到达{1}：{3}。"),
    AFTER_ITS_STEP_WITH_USUAL(
            "Token {0} reached the {1} {2} after its step ended, usual here are {3}: {4}.",
            "第 {0} 个 token 在其步结束 {2} 之后到达{1}，此处通常为 {3}：{4}。"),
    BEFORE_CONTEXT_JUMPED(
            "{0} steps before, at {1}, {2} joined with {3} tokens of prompt, where {4} tokens were resident.",
            "{0} 步之前（{1}），{2} 带着 {3} 个 prompt token 加入，当时驻留 {4} 个 token。"),
    BEFORE_EVICTED("{0} steps before, at {1}, {2} cached KV blocks were evicted.", "{0} 步之前（{1}），{2} 个缓存的 KV 块被逐出。"),
    BEFORE_PREEMPTED("{0} steps before, at {1}, {2} was preempted.", "{0} 步之前（{1}），{2} 被抢占。"),
    BEFORE_FELL_BACK(
            "{0} steps before, at {1}, the engine went from mode {2} to {3}, with {4} sequences.",
            "{0} 步之前（{1}），引擎从 {2} 模式转为 {3}，当时有 {4} 个序列。"),
    BEFORE_BATCH_SWUNG(
            "{0} steps before, at {1}, the batch had swung between {2} and {3} sequences.",
            "{0} 步之前（{1}），批次在 {2} 与 {3} 个序列之间摆动。");

    private static final Pattern IDS = Pattern.compile("(?s)(.*?)( \\[[^\\[\\]]*])?");
    private static final Map<String, String> WORDS = Map.of(
            "another request", "另一个请求",
            "client", "客户端",
            "gateway", "网关",
            "a gateway held it", "网关扣留了它",
            "the gateway waited for the client to read", "网关在等待客户端读取",
            "it was on its way between the gateway and the client", "它正在网关与客户端之间传输",
            "it left the engine late", "它离开引擎时已经晚了",
            "no record tells where it waited", "没有记录说明它在哪里等待");
    private static final Pattern AND_TOKENS = Pattern.compile(" and (\\d+) computed tokens");

    private final Template english;
    private final Template chinese;
    private final Pattern pattern;

    Phrase(String english, String chinese) {
        this.english = Template.of(english);
        this.chinese = Template.of(chinese);
        this.pattern = this.english.pattern();
    }

    /** A sentence cut at its values once, since every slow token says several: the words around them, and which value stands between. */
    private record Template(String text, List<String> words, List<Integer> values) {
        static Template of(String text) {
            List<String> words = new ArrayList<>();
            List<Integer> values = new ArrayList<>();
            Matcher place = Pattern.compile("\\{(\\d)}").matcher(text);
            int at = 0;
            while (place.find()) {
                words.add(text.substring(at, place.start()));
                values.add(Integer.valueOf(place.group(1)));
                at = place.end();
            }
            words.add(text.substring(at));
            return new Template(text, List.copyOf(words), List.copyOf(values));
        }

        String fill(Object... given) {
            StringBuilder filled = new StringBuilder();
            for (int i = 0; i < values.size(); i++) {
                filled.append(words.get(i)).append(given[values.get(i)]);
            }
            return filled.append(words.get(values.size())).toString();
        }

        Pattern pattern() {
            return Pattern.compile(
                    words.stream().map(Pattern::quote).collect(Collectors.joining("(.*?)")), Pattern.DOTALL);
        }

        int wordCharacters() {
            return words.stream().mapToInt(String::length).sum();
        }
    }

    /** The English sentence with these values. */
    public String say(Object... values) {
        return english.fill(values);
    }

    /** The template in a language; values stand as {@code {0}}, {@code {1}} and so on. */
    public String template(Language language) {
        return (language == Language.ZH ? chinese : english).text();
    }

    /** An English sentence, with the ids at its end, in a language; unchanged where it is none of this set. */
    public static String in(Language language, String sentence) {
        if (language == Language.EN) {
            return sentence;
        }
        Matcher parts = IDS.matcher(sentence);
        if (!parts.matches()) {
            return sentence;
        }
        String text = parts.group(1);
        String ids = parts.group(2) == null ? "" : parts.group(2);
        Phrase phrase = of(text);
        if (phrase == null) {
            return sentence;
        }
        Matcher values = phrase.pattern.matcher(text);
        if (!values.matches()) {
            return sentence;
        }
        List<String> translated = new ArrayList<>();
        for (int i = 1; i <= values.groupCount(); i++) {
            translated.add(word(values.group(i)));
        }
        return phrase.chinese.fill(translated.toArray()) + ids;
    }

    private static String word(String value) {
        Matcher tokens = AND_TOKENS.matcher(value);
        if (tokens.matches()) {
            return "和 " + tokens.group(1) + " 个已计算的 token";
        }
        return WORDS.getOrDefault(value, value);
    }

    /** The phrase of an English sentence without its ids; null where it is none. The one with most words of its own wins. */
    static @Nullable Phrase of(String text) {
        for (Phrase phrase : BY_WORDS) {
            if (phrase.pattern.matcher(text).matches()) {
                return phrase;
            }
        }
        return null;
    }

    private static final List<Phrase> BY_WORDS = List.of(values()).stream()
            .sorted(Comparator.comparingInt((Phrase phrase) -> -phrase.english.wordCharacters()))
            .toList();
}
