package io.tokenstair.narrative;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
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
            "{0} 步之前（{1}），批次在 {2} 与 {3} 个序列之间摆动。"),
    MODEL_DID_NOT_RUN(
            "For {0} longer than usual the step was open and the model did not run.", "该步已打开而模型没有运行的时间比平时长 {0}。"),
    OTHER_KERNEL("The step ran kernel {0} where it usually runs {1}: {2}.", "该步运行了 kernel {0}，通常运行的是 {1}：{2}。"),
    BEFORE_KERNEL_CHANGED("{0} steps before, at {1}, kernel {2} gave way to {3}.", "{0} 步之前（{1}），kernel {2} 被 {3} 取代。"),
    BEFORE_CONTEXT_JUMPED_LATE(
            "{0} steps before, at {1}, {2} joined, {3} after it was queued, with {4} tokens of prompt, where {5} tokens were resident.",
            "{0} 步之前（{1}），{2} 在排队 {3} 之后带着 {4} 个 prompt token 加入，当时驻留 {5} 个 token。"),

    // What findings say.
    LOST_ONE("Token {0} lost {1}.", "第 {0} 个 token 损失了 {1}。"),
    LOST_SEVERAL(
            "{0} tokens from {1} to {2} lost {3}, most at token {4} ({5}).",
            "第 {1} 至 {2} 个 token 中有 {0} 个共损失 {3}，最多的是第 {4} 个（{5}）。"),
    CLIENT_ENDED("The client ended the stream after {0} tokens.", "客户端在 {0} 个 token 之后结束了流。"),
    PREEMPTED_AGAIN(
            "It was preempted {0} times and between them computed {1} tokens again while it gained {2}.",
            "它被抢占 {0} 次，其间重新计算了 {1} 个 token，而只新得到 {2} 个。"),
    DISCARDED("In all, {0} computed tokens were discarded.", "总共丢弃了 {0} 个已计算的 token。"),
    MOST_HELD_BY("Most of the other KV space was held by {0}.", "其余 KV 空间大部分由 {0} 占用。"),
    OVERTAKEN(
            "It was preempted{0}, and while it waited {1}, which is no more urgent and had started later or not at all, ran first.",
            "它被抢占{0}，在它等待期间，优先级不高于它且更晚开始或尚未开始的 {1} 先运行了。"),
    OVERTAKEN_OFTEN("So it went after {0} of its preemptions.", "它有 {0} 次抢占之后都是如此。"),
    PREFIX_LOST(
            "{0} of its {1} prompt tokens had been cached before and were computed again; {2} were found.",
            "它的 {1} 个 prompt token 中有 {0} 个曾被缓存却重新计算；找到的有 {2} 个。"),
    EVICTED_FOR("They were evicted while {0} was computed.", "它们在计算 {0} 时被逐出。"),
    NO_EVICTION("No eviction of them is recorded.", "没有它们被逐出的记录。"),
    POOL_IN_USE("{0} % of the KV pool were in use.", "当时 KV 池已用 {0} %。"),
    GREW_WITH_CONTEXT(
            "The gap rose from {0} at {1} tokens of context to {2} at {3}: a slope of {4} per 1000 tokens (r {5}), no step.",
            "间隔从上下文 {1} 个 token 时的 {0} 升至 {3} 个时的 {2}：每 1000 个 token 斜率为 {4}（r {5}），没有台阶。"),
    ROSE_IN_STEPS(
            "The token time rose in {0} lasting steps beyond what the model expects: {1}.",
            "token 时间出现 {0} 级持续的、超出模型预期的台阶：{1}。"),
    CAUSE_UNPROVEN("The shape alone says so: cause unproven.", "仅由形状得出：原因未经证实。"),
    KV_AT_THE_RISES("KV events lie at the rises more often than elsewhere.", "KV 事件在台阶处比别处更频繁。"),
    DELIVERED_LATE("Token {0} was delivered late, by {1} at most.", "第 {0} 个 token 送达晚了，最多晚 {1}。"),
    DELIVERED_LATE_SEVERAL(
            "{0} tokens from {1} to {2} were delivered late, by {3} at most.",
            "第 {1} 至 {2} 个 token 中有 {0} 个送达晚了，最多晚 {3}。"),
    WENT_OUT_IN_GROUPS(
            "{0} of {1} chunks went out in {2}, the first of a group held up to {3} for the last, while {4}.",
            "{1} 个 chunk 中有 {0} 个以 {2} 发出，组内第一个为等最后一个最多被扣留 {3}，而{4}。"),
    DRIVER_ERRORS("The driver returned errors in {0}, {1}, and the engine went on.", "驱动在 {0}（{1}）返回错误，引擎继续运行。"),
    CLOCK_WAS_LOWER(
            "The clock was lower than usual, and {0}, {1}, took longer in proportion.", "时钟低于平时，{0}（{1}）按比例变长。"),
    CLOCK_WAS_LOWER_ON(
            "The clock of {0} was lower than usual, and {1}, {2}, took longer in proportion.",
            "{0} 的时钟低于平时，{1}（{2}）按比例变长。"),
    PAUSED_PERIODICALLY(
            "The process {0} stood still {1} times {2}, about every {3}, for {4} to {5} each{6}.",
            "进程 {0} 停顿了 {1} 次（{2}），约每 {3} 一次，每次 {4} 至 {5}{6}。"),
    PAUSED_APART(
            "The process {0} stood still {1} times {2}, {3} to {4} apart, for {5} to {6} each{7}.",
            "进程 {0} 停顿了 {1} 次（{2}），相隔 {3} 至 {4}，每次 {5} 至 {6}{7}。"),
    RECORDED_AS("They are recorded as {0}.", "记录的原因是 {0}。"),
    NO_RECORD_SAYS_WHY("No record says why.", "没有记录说明原因。"),
    RAN_EAGERLY(
            "From step {0} on, with {1}, decode steps ran eagerly instead of by a graph: a step took {2} instead of {3} (x{4}).",
            "从第 {0} 步起，在 {1} 时，decode 步以 eager 方式而非 graph 运行：一步需要 {2} 而不是 {3}（x{4}）。"),
    RAN_EAGERLY_IN_RUNS(
            "{0} in {1} runs, with {2}, ran eagerly instead of by a graph: a step took {3} instead of {4} (x{5}).",
            "{0}（分 {1} 段，{2}）以 eager 方式而非 graph 运行：一步需要 {3} 而不是 {4}（x{5}）。"),
    LARGEST_CAPTURED("The largest captured size is {0}.", "捕获的最大批次为 {0}。"),
    NOT_RETURNED("After {0} it had not returned to its graphs.", "{0}之后它仍未恢复使用 graph。"),
    RETURNED("It returned to its graphs at step {0}, after {1}.", "它在 {1}之后，于第 {0} 步恢复使用 graph。"),
    RETURNED_EACH_TIME("It returned to its graphs each time.", "每次它都恢复使用 graph。"),
    LAST_NOT_RETURNED("After the last of them it had not returned to its graphs.", "最后一段之后它仍未恢复使用 graph。"),
    OTHER_KERNELS_RAN(
            "From step {0} on, kernel {1} ran where {2} usually does, in {3}: {4} longer a step.",
            "从第 {0} 步起，有 {3} 运行了 kernel {1} 而非通常的 {2}：每步多用 {4}。"),
    TAKEN_PREEMPTIONS("KV blocks were taken that were needed again: {0} {1}.", "被取走的 KV 块又被需要：{0}（{1}）。"),
    TAKEN_PREFIXES(
            "KV blocks were taken that were needed again: {0} computed again after eviction {1}.",
            "被取走的 KV 块又被需要：{0}在逐出后重新计算（{1}）。"),
    TAKEN_BOTH(
            "KV blocks were taken that were needed again: {0} and {1} computed again after eviction {2}.",
            "被取走的 KV 块又被需要：{0}，以及 {1}在逐出后重新计算（{2}）。"),
    COMPUTED_BEFORE(
            "Of the {0} tokens computed {1}, {2} ({3} %) had been computed before, after {4}.",
            "{1} 共计算 {0} 个 token，其中 {2} 个（{3} %）以前计算过，其间有 {4}。"),
    BATCH_TURNED(
            "The batch turned {0} times {1}, between {2} and {3} sequences, and step time with it: from about {4} to {5} (r {6}).",
            "批次转向 {0} 次（{1}），在 {2} 与 {3} 个序列之间，步时间随之变化：约从 {4} 到 {5}（r {6}）。"),
    LOADED_SLOWLY(
            "The start loaded its {0} shards in {1}; an earlier one took {2}.", "这次启动载入 {0} 个分片用了 {1}；较早的一次用了 {2}。"),
    SLOWEST_SHARD("Most of it is {0}: {1} instead of {2}.", "主要在 {0}：{1} 而不是 {2}。"),
    SHARD_SIZE("It has {0} bytes.", "它有 {0} 字节。"),
    SHARD_TO("It went to {0}.", "它被载入 {0}。"),
    SHARD_OVER("It went over {0}.", "它经由 {0}。"),
    STEPS_ROSE(
            "The time of the engine's steps rose in {0} lasting levels beyond what the model expects of their batch, context and prompts.",
            "引擎的步时间出现 {0} 级持续的台阶，超出模型按批次、上下文和 prompt 的预期。"),
    ROSE_AT_STEP("Step {0}: +{1} %, KV events at {2} of the steps around it.", "第 {0} 步：+{1} %，其前后各步中有 {2} 步发生 KV 事件。"),
    ELSEWHERE_RARER("Elsewhere KV events are clearly rarer.", "别处的 KV 事件明显更少。"),
    NO_MORE_THERE("KV events are no more frequent there than elsewhere: cause unproven.", "那里的 KV 事件并不比别处更频繁：原因未经证实。"),
    OVER_TTFT(
            "The first token came {0} after the request was sent: over the limit of {1}.",
            "第一个 token 在请求发出 {0} 之后到达：超过了 {1} 的上限。"),
    OVER_GAP(
            "Token {0} was made {1} after the one before: over the limit of {2}.",
            "第 {0} 个 token 比前一个晚 {1} 产生：超过了 {2} 的上限。"),
    OVER_GAP_ARRIVED(
            "Token {0} arrived {1} after the one before: over the limit of {2}.",
            "第 {0} 个 token 比前一个晚 {1} 到达：超过了 {2} 的上限。");

    private static final Pattern BETWEEN_SENTENCES = Pattern.compile("(?<=\\])\\s+(?=[^\\[\\s])");
    private static final Pattern LIST = Pattern.compile(", ");
    private static final Pattern IDS = Pattern.compile("(?s)(.*?)( \\[[^\\[\\]]*])?");
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
            Map.entry("no record tells where it waited", "没有记录说明它在哪里等待"));
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
            "in step (\\d+)", "第 $1 步",
            "from step (\\d+) to (\\d+) \\((.+)\\)", "第 $1 至 $2 步，$3",
            "token (\\d+) (\\(\\+\\d+ %\\))", "第 $1 个 token $2");

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

    /** The sentences of a narrative: each ends in the event ids it cites. */
    public static List<String> sentences(String narrative) {
        return BETWEEN_SENTENCES
                .splitAsStream(narrative.strip())
                .filter(sentence -> !sentence.isBlank())
                .toList();
    }

    /** A narrative in a language; sentences that are none of this set stay as they are. */
    public static String narrative(Language language, String narrative) {
        return language == Language.EN
                ? narrative
                : sentences(narrative).stream()
                        .map(sentence -> in(language, sentence))
                        .collect(Collectors.joining(" "));
    }

    private static Map<Pattern, String> numbered(String... pairs) {
        Map<Pattern, String> numbered = new LinkedHashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            numbered.put(Pattern.compile(pairs[i]), pairs[i + 1]);
        }
        return numbered;
    }

    private static String word(String value) {
        for (Map.Entry<Pattern, String> each : NUMBERED.entrySet()) {
            if (each.getKey().matcher(value).matches()) {
                return each.getKey().matcher(value).replaceAll(each.getValue());
            }
        }
        if (value.startsWith("token ") && value.contains(", token ")) {
            return LIST.splitAsStream(value).map(Phrase::word).collect(Collectors.joining("，"));
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
