package io.tokenstair.narrative;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The one set of sentences that slow tokens, findings and remarks are told in, and of the reasons why something is as sure as it is.
 * Archives hold the English text, with the ids of its events in brackets at the end of a sentence; another language is the same template
 * with the same values, found again in the text ({@link Translation}). Tests hold that all the analysis says is one of these.
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
    MORE_URGENT_RAN("Request {0}, which is more urgent, ran meanwhile.", "期间运行了更紧急的请求 {0}。"),
    MORE_SEQUENCES("The step ran {0} sequences; usual are {1}: {2}.", "该步运行了 {0} 个序列，通常为 {1} 个：{2}。"),
    MORE_CONTEXT("The step read {0} tokens of context; usual are {1}: {2}.", "该步读取了 {0} 个 token 的上下文，通常为 {1} 个：{2}。"),
    OTHER_GRAPH_MODE("The step ran in graph mode {0}; usual is {1}: {2}.", "该步以 {0} 模式运行，通常为 {1}：{2}。"),
    THREADS_WITHOUT_A_CORE(
            "The engine's threads stood ready without a core for {0} more than usual.", "引擎线程就绪却得不到 CPU 核，比平时多 {0}。"),
    PROCESS_STOOD_STILL("The process {0} stood still for {1}.", "进程 {0} 停顿了 {1}。"),
    PROCESS_STOOD_STILL_FOR("The process {0} stood still ({1}) for {2}.", "进程 {0} 停顿了 {2}（{1}）。"),
    PROCESS_NEITHER_RAN("The engine's process neither ran nor was ready for {0}.", "引擎进程有 {0} 既未运行也未就绪。"),
    PROCESS_WAITED_FOR_BLOCK_IO(
            "The engine's process neither ran nor was ready for {0}; {1} of it it waited for block I/O.",
            "引擎进程有 {0} 既未运行也未就绪，其中 {1} 在等待块设备 I/O。"),
    WAITED_FOR_REMOTE("It waited {0} for its KV blocks.", "它等待自己的 KV 块 {0}。"),
    WAITED_FOR_REMOTE_FROM("It waited {0} for its KV blocks from {1}.", "它等待来自 {1} 的 KV 块 {0}。"),
    WAITED_FOR_LOAD("It waited {0} for its KV blocks to be loaded.", "它等待自己的 KV 块载入 {0}。"),
    WAITED_FOR_LOAD_FROM("It waited {0} for its KV blocks to be loaded from {1}.", "它等待 KV 块从 {1} 载入 {0}。"),
    COMPILED("A kernel was compiled in {0}: {1}.", "用 {0} 编译了一个 kernel：{1}。"),
    MEMORY_LOOKED_FOR("Device memory was looked for ({0}): {1}.", "正在寻找显存（{0}）：{1}。"),
    MEMORY_LOOKED_FOR_ON("Device memory was looked for ({0}) on {1}: {2}.", "在 {1} 上寻找显存（{0}）：{2}。"),
    ALLOCATOR_COUNTS("The allocator's count of retries or failures rose, and {0} remain.", "分配器的重试或失败次数上升，剩余 {0}。"),
    ALLOCATOR_COUNTS_ON(
            "The allocator's count of retries or failures rose on {0}, and {1} remain.", "{0} 上分配器的重试或失败次数上升，剩余 {1}。"),
    WAITED_FOR_THE_DEVICE("A call waited for the device ({0}): {1}.", "一次调用等待设备（{0}）：{1}。"),
    DRIVER_RETURNED("The driver returned error {0}, and {1} went by around it.", "驱动返回错误 {0}，其前后共耗去 {1}。"),
    CLOCK_LOWER("The clock was lower than usual, and the step longer {0}: {1}.", "设备时钟低于平时，该步变长（{0}）：{1}。"),
    CLOCK_LOWER_ON(
            "The clock was lower than usual on {0}, and the step longer {1}: {2}.", "{0} 的时钟低于平时，该步变长（{1}）：{2}。"),
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
    DEVICE_WAS_IDLE(
            "For {0} longer than usual a step was open and none of its kernels ran.",
            "该步已打开而没有任何 kernel 运行的时间比平时长 {0}。"),
    LEFT_OUT(
            "It was left out of steps for {0}, and no record says why: the size of the token budget is not known, or it was not used up.",
            "它有 {0} 未被调度，没有任何记录能说明原因：token 预算的大小未知，或预算并未用完。"),
    LAUNCHED_BEFORE(
            "Of the step's kernels {0} waited longest from its launch to its start: {1}.",
            "该步的 kernel 中 {0} 从发起到开始等待最久：{1}。"),
    LAUNCHED_BEFORE_AND_USUALLY(
            "Of the step's kernels {0} waited longest from its launch to its start: {1}, where {2} are usual.",
            "该步的 kernel 中 {0} 从发起到开始等待最久：{1}，通常为 {2}。"),
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
    TAKEN_PREEMPTIONS("KV blocks were taken that were needed again, {1}: {0}.", "被取走的 KV 块又被需要：{0}（{1}）。"),
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
            "第 {0} 个 token 比前一个晚 {1} 到达：超过了 {2} 的上限。"),

    // What is said where no engine step was recorded.
    STREAM_GAP(
            "Token {0} arrived {1} after the one before; usual in this stream are {2}, and no engine step was reported that could say why.",
            "第 {0} 个 token 比前一个晚 {1} 到达；这条流通常为 {2}，而没有引擎步记录能说明原因。"),
    COUNTERS_OF_PRESSURE("Consistent with too little KV space: {0}.", "与 KV 空间不足相符：{0}。"),
    PAUSED_OBSERVED(
            Use.CLAUSE,
            "paused requests observed in {0} of {1} scrapes, {2} at most",
            "{1} 次采样中有 {0} 次观察到被暂停的请求，最多 {2} 个"),
    COUNTED(Use.CLAUSE, "{0} counted", "计数器记录了 {0}"),
    POOL_FULL(
            Use.CLAUSE,
            "at least {0} % of the KV pool in use while requests waited, {1} at most, in {2} of {3} scrapes",
            "{3} 次采样中有 {2} 次，在有请求等待（最多 {1} 个）时 KV 池至少已用 {0} %"),
    POOL_FULL_WHILE_RUNNING(
            Use.CLAUSE,
            "at least {0} % of the KV pool in use while requests waited, {1} at most, and {2} to {3} ran, in {4} of {5} scrapes",
            "{5} 次采样中有 {4} 次，在有请求等待（最多 {1} 个）、{2} 至 {3} 个在运行时 KV 池至少已用 {0} %"),
    POOL_FULL_BELOW_SEATS(
            Use.CLAUSE,
            "at least {0} % of the KV pool in use while requests waited, {1} at most, and {2} to {3} of {4} that may ran, in {5} of {6} scrapes",
            "{6} 次采样中有 {5} 次，在有请求等待（最多 {1} 个）、允许的 {4} 个中有 {2} 至 {3} 个在运行时 KV 池至少已用 {0} %"),
    COUNTERS_OF_SWINGS(
            "Consistent with a swinging batch: the number of running sequences turned {0} times in {1} scrapes, between {2} and {3}, and changed direction from one scrape to the next {4} times.",
            "与批次摆动相符：运行中的序列数在 {1} 次采样中转向 {0} 次，在 {2} 与 {3} 之间，相邻采样之间改变方向 {4} 次。"),
    USAGE_NOT_RECORDED(
            "No data on KV usage: it reads 0 in all of {0} scrapes although up to {1} sequences ran. That is no empty pool, and nothing is concluded from it.",
            "没有 KV 使用率的数据：尽管最多有 {1} 个序列在运行，全部 {0} 次采样都读得 0。这并不表示池是空的，也不由此得出任何结论。"),
    RAN_AT_LIMIT(
            "In {0} of {1} scrapes with requests waiting, {2} at most, the engine ran as many sequences as it may, {3}: consistent with the limit of sequences holding requests back.",
            "在有请求等待（最多 {2} 个）的 {1} 次采样中有 {0} 次，引擎运行的序列数已达允许的上限 {3}：与序列上限使请求等待相符。"),
    RAN_AS_AT_LIMIT(
            "In {0} of {1} scrapes with requests waiting, {2} at most, the engine ran {3} sequences and never more: as at a limit of sequences, which was not reported.",
            "在有请求等待（最多 {2} 个）的 {1} 次采样中有 {0} 次，引擎运行 {3} 个序列且从未更多：如同处于序列上限，但上限未被报告。"),
    POOL_NOT_RECORDED("How full the KV pool was is not recorded.", "KV 池有多满没有记录。"),
    POOL_AT_MOST("The KV pool was {0} % full at most.", "KV 池最多已用 {0} %。"),
    POOL_NOT_SHORT("{0} % of the KV pool was in use then: it was not short of KV space.", "当时 KV 池已用 {0} %：并不缺 KV 空间。"),
    POOL_SHORT_AS_WELL(
            "{0} % of the KV pool was in use then as well: which of the two held them back is not known.",
            "当时 KV 池也已用 {0} %：二者中是哪一个使它们等待尚不清楚。"),
    WAITED_BESIDE_FREE_KV(
            "In {0} of {1} requests waited, {2} at most, with up to {3} running and {4} % of the KV pool in use: KV space is not what they waited for.",
            "在 {1} 中有 {0} 次有请求等待（最多 {2} 个），同时最多 {3} 个在运行、KV 池已用 {4} %：它们等待的不是 KV 空间。"),
    FEWER_RAN("Fewer ran than may.", "运行的少于允许的。"),
    LIMIT_NOT_REPORTED("How many sequences may run was not reported.", "允许运行多少个序列未被报告。"),
    FEWER_GENERATED(
            "The more prompt tokens a second, the fewer generated ones: r {0}, and {1} with the number of running sequences held constant.",
            "每秒的 prompt token 越多，生成的 token 越少：r {0}；在运行序列数固定时为 {1}。"),
    GENERATED_ON_AVERAGE(
            "On average {0} a second were generated in the {1} scrapes with prompts, {2} in the {3} without.",
            "有 prompt 的 {1} 次采样中平均每秒生成 {0} 个，没有的 {3} 次中为 {2} 个。"),
    PROMPTS_HELD_UP("Consistent with prompts holding up the tokens of others.", "与 prompt 拖慢其他请求的 token 相符。"),
    NO_SUCCESS(
            "No data: no request succeeded in {0}, and the zeros written for their latencies are no measurements.",
            "没有数据：{0}中没有请求成功，为其延迟写下的 0 不是测量值。"),
    TPOT_LEVELS_OFF(
            "Median TPOT rises from {0} at {1} input tokens to {2} at {3} and stays there to {4} ({5}), while the median time to first token rises from {6} to {7}: consistent with a limit of admission, longer inputs wait instead of slowing the tokens of all.",
            "TPOT 中位数从 {1} 个输入 token 时的 {0} 升至 {3} 个时的 {2}，并一直保持到 {4} 个（{5}），而首 token 时间中位数从 {6} 升至 {7}：与准入上限相符，更长的输入在等待，而不是拖慢所有请求的 token。"),
    TPOT_RISES_BY_A_STEP(
            "Median TPOT rises with the input length, from {0} at {1} tokens to {2} at {3}, by x{4} from {5} to {6}: consistent with a cost of context; aggregates do not say by which work.",
            "TPOT 中位数随输入长度上升，从 {1} 个 token 时的 {0} 到 {3} 个时的 {2}，其中从 {5} 个到 {6} 个时增至 {4} 倍：与上下文的代价相符；汇总值不能说明是哪项工作。"),
    TPOT_RISES(
            "Median TPOT rises with the input length, from {0} at {1} tokens to {2} at {3}: consistent with a cost of context; aggregates do not say by which work.",
            "TPOT 中位数随输入长度上升，从 {1} 个 token 时的 {0} 到 {3} 个时的 {2}：与上下文的代价相符；汇总值不能说明是哪项工作。"),
    TPOT_TAIL_RISES(
            "Median TPOT does not rise with the input length ({0} at {1} tokens, {2} at {3}), its p99 does, from {4} to {5}: consistent with prompts of other requests in some of the steps, not with a cost of context.",
            "TPOT 中位数不随输入长度上升（{1} 个 token 时 {0}，{3} 个时 {2}），其 p99 从 {4} 升至 {5}：与部分步中有其他请求的 prompt 相符，而与上下文的代价不符。"),
    TPOT_DOES_NOT_RISE(
            "Median TPOT does not rise with the input length: {0} at {1} tokens, {2} at {3}.",
            "TPOT 中位数不随输入长度上升：{1} 个 token 时 {0}，{3} 个时 {2}。"),
    WORKLOAD(
            "A workload of {0} requests: what they ask for, and no latency of any, so none is called slow{1}.",
            "{0} 个请求的负载：只有它们的需求而没有任何延迟，因此不称任何一个为慢{1}。"),
    TOKENS_ON_AVERAGE(Use.CLAUSE, "they hold {0} tokens and ask for {1} on average", "平均每个带有 {0} 个 token、要求 {1} 个"),
    ARRIVALS_ON_TICKS(
            Use.CLAUSE,
            "arrivals come on ticks of about {0} ms, so bursts within a tick are not in the data",
            "到达时刻按约 {0} ms 的刻度给出，因此一个刻度内的突发不在数据中"),
    PREFIXES_SHARED(
            "Of {0} prompt blocks {1} % begin like an earlier prompt, and {2} % of requests share at least half of theirs: the most that a prefix cache without a limit could find.",
            "{0} 个 prompt 块中有 {1} % 与更早的 prompt 开头相同，{2} % 的请求至少共享其一半：这是没有上限的前缀缓存最多能找到的。"),
    WAITED_TO_BE_SCHEDULED(
            "{0} requests waited {1} to be scheduled (half of them), {2} (99 %), {3} at most{4}.",
            "{0} 个请求等待调度 {1}（半数）、{2}（99 %），最多 {3}{4}。"),
    FIRST_TOKEN_LATER(Use.CLAUSE, "their first token came {0} later (half of them)", "其首个 token 在此之后 {0} 到来（半数）"),
    TOKEN_TOOK_FROM_THERE(
            Use.CLAUSE,
            "from there on a token took {0} on average (half of them), {1} at most",
            "此后一个 token 平均用 {0}（半数），最多 {1}"),
    THEIR_FIRST_TOKEN("Their first token came {0} later (half of them){1}.", "其首个 token 在此之后 {0} 到来（半数）{1}。"),
    CONTEXT_WAS_FULL(
            "The context that all requests share was full {0}: {1} ended with it, those of one time within {2} ms.",
            "所有请求共享的上下文满了 {0}：{1} 随之结束，同一次的在 {2} ms 之内。"),
    CONTEXT_WAS_FULL_BY_LOG(
            "The context that all requests share was full {0}: what was under way ended with it.",
            "所有请求共享的上下文满了 {0}：正在进行的都随之结束。"),
    FORWARD_PASSES_TOOK(
            "{0} forward passes took {1} (half of them), {2} (99 %), {3} at most by the engine's own measure.",
            "按引擎自己的计量，{0} 次前向计算用 {1}（半数）、{2}（99 %），最多 {3}。"),
    PREEMPTED_WAITED(
            "In {0}, {1} in all, up to {2} that had been preempted waited to come back, with up to {3} tokens; which ones is not recorded.",
            "在 {0} 中（共 {1}），最多有 {2} 曾被抢占、等待恢复，最多带有 {3} 个 token；是哪些没有记录。"),
    FROM_THERE_ON(
            "From there on a token took {0} on average (half of them), {1} at most.", "此后一个 token 平均用 {0}（半数），最多 {1}。"),

    // What the built-in rules say.
    RULE_LOST_BLOCKS("Request {0} (sequence {1}) lost its KV blocks in step {2}.", "请求 {0}（序列 {1}）在第 {2} 步失去了 KV 块。"),
    RULE_COMPUTED_AGAIN(
            "It was computed again up to token {0} in step {1}, which came {2} after the token before.",
            "它在第 {1} 步重新计算至第 {0} 个 token，该 token 在前一个之后 {2} 产生。"),
    RULE_CONTEXT_REACHED(
            "The context of request {0} reached {1} tokens at token {2}.",
            "请求 {0} 的上下文在第 {2} 个 token 处达到 {1} 个 token。"),
    RULE_EVICTED_AND_ROSE(
            "KV blocks were evicted in bulk or taken in step {0}, and the token time of request {1} rose for good by token {2}.",
            "第 {0} 步成批逐出或收走了 KV 块，请求 {1} 的 token 时间自第 {2} 个 token 起持续升高。"),
    RULE_EVICTED_AND_ROSE_AGAIN(
            "KV blocks were evicted in bulk or taken again in step {0}, and the token time of request {1} rose for good by token {2}.",
            "第 {0} 步再次成批逐出或收走了 KV 块，请求 {1} 的 token 时间自第 {2} 个 token 起持续升高。"),
    RULE_FIRST_LOST_BLOCKS(
            "Request {0} (sequence {1}) first lost its KV blocks in step {2}.", "请求 {0}（序列 {1}）在第 {2} 步首次失去 KV 块。"),
    RULE_LOST_THEM_AGAIN(
            "In step {0} it lost them again, and has computed more tokens again than it gained since.",
            "它在第 {0} 步又失去了它们，此间重新计算的 token 多于新得到的。"),
    RULE_FIFTH_COMPUTED_BEFORE(
            "By step {0} at least a fifth of all computed tokens had been computed before, for 128 steps, with six preemptions or more.",
            "到第 {0} 步为止的 128 步里，所计算的 token 至少五分之一曾经计算过，期间至少六次抢占。"),
    RULE_LOST_COMPUTED(
            "Request {0} (sequence {1}) lost {2} computed tokens in step {3}.",
            "请求 {0}（序列 {1}）在第 {3} 步失去了 {2} 个已计算的 token。"),
    RULE_RAN_BEFORE_IT("Request {0}, not more urgent, ran before it in step {1}.", "请求 {0} 并不更紧急，却在第 {1} 步先于它运行。"),
    RULE_BECAME_SLOW(
            "Request {0} (sequence {1}) became slow at token {2}, which took {3}: {4} was lost by then.",
            "请求 {0}（序列 {1}）在第 {2} 个 token 处变慢，该 token 用了 {3}：至此损失 {4}。"),
    RULE_BATCH_TURNED(
            "The batch had turned six times or more by step {0}, and step time went with it.",
            "到第 {0} 步为止批次至少转向六次，步时间随之变化。"),
    RULE_PROMPT_BESIDE("Its steps also computed the prompt of request {0}.", "它的步里还计算了请求 {0} 的提示词。"),
    RULE_ONLY_PROMPTS(
            "It was ready, and the engine computed only prompts, most of them of request {0}.",
            "它已就绪，而引擎只在计算提示词，大部分属于请求 {0}。"),
    RULE_BUDGET_USED_UP(
            "It was left out of steps whose token budget was used up, most of it by the prompt of request {0}.",
            "它被排除在 token 预算已用尽的步之外，预算大部分被请求 {0} 的提示词用去。"),
    RULE_FIRST_TOKEN_TOOK(
            "The first token of request {0} took {1} from the queue on, {2} of it lost.",
            "请求 {0} 的首个 token 从排队起用了 {1}，其中损失 {2}。"),
    RULE_WAITED_FOR_A_SEAT("It waited for a seat: the engine ran as many sequences as it may.", "它在等待名额：引擎运行的序列已达上限。"),
    RULE_RAN_ANOTHER_WAY(
            "From step {0} on steps ran another way than before: eagerly, or by other kernels.",
            "从第 {0} 步起的运行方式与之前不同：不用 graph，或用了别的 kernel。"),
    RULE_COMPILED("A kernel was compiled for a shape of first use.", "为首次使用的形状编译了一个 kernel。"),
    RULE_PREFIX_AGAIN(
            "Request {0} computed {1} tokens of its prompt again from step {2} on, of blocks that had been cached.",
            "请求 {0} 从第 {2} 步起重新计算了提示词中的 {1} 个 token，它们的块曾在缓存中。"),
    RULE_PREFIX_QUARTER(
            "By step {0} that was a quarter of its prompt or more, and more than was found.",
            "到第 {0} 步为止，这至少是其提示词的四分之一，且多于命中的部分。"),
    RULE_WAITED_FOR_BLOCKS("It waited for its KV blocks from {0}.", "它在等待来自 {0} 的 KV 块。"),
    RULE_HELD_BY_GATEWAY(
            "Token {0} of request {1} came late to the client, {2} in all by then: a gateway held it.",
            "请求 {1} 的第 {0} 个 token 到达客户端时已晚，至此共晚 {2}：网关扣留了它。"),
    RULE_IN_GROUPS(
            "By token {0} half of the chunks or more had gone out in groups.", "到第 {0} 个 token 为止，至少一半的数据块是成组发出的。"),
    RULE_LEFT_LATE(
            "Token {0} of request {1} was made on time and left the engine late, by {2} in all by then.",
            "请求 {1} 的第 {0} 个 token 按时产生，却晚离开引擎，至此共晚 {2}。"),
    RULE_STOOD_STILL(
            "Token {0} of request {1} took {2}: a process of the engine stood still.",
            "请求 {1} 的第 {0} 个 token 用了 {2}：引擎的一个进程停住了。"),
    RULE_THAT_PROCESS("That process was {0}, and {1} was lost.", "该进程是 {0}，损失了 {1}。"),
    RULE_MEMORY_FOUND("Device memory had to be found, and the device was waited for.", "须先找到显存，并为此等待了设备。"),
    RULE_DRIVER_ERROR("The driver returned an error around step {0}.", "驱动在第 {0} 步前后返回了错误。"),
    RULE_CLOCK_LOWER(
            "The clock of device {0} was lower from step {1} on, and all kernels took longer by one factor.",
            "设备 {0} 的时钟自第 {1} 步起降低，所有 kernel 按同一倍数变慢。"),
    RULE_TTFT_OVER(
            "The first token of request {0} came {1} after it was sent: over 2 s.",
            "请求 {0} 的首个 token 在发送后 {1} 才到：超过 2 s。"),
    RULE_FIRST_LOST("On engine {1} it lost {0} of that, by {2}.", "其中 {0} 损失在引擎 {1} 上，原因为 {2}。"),
    RULE_LESS_URGENT_RAN(
            "Request {0} of priority {1} waited while request {2} of priority {3} ran in step {4}.",
            "优先级为 {1} 的请求 {0} 在等待，而优先级为 {3} 的请求 {2} 在第 {4} 步运行。"),

    // Why something is as sure as it is.
    WHY_NO_RECORD(Use.REASON, "no record of this engine names a mechanism for the largest part", "该引擎没有记录说明最大一部分的机制"),
    WHY_AGAIN_WITHOUT_RECORD(Use.REASON, "it was computed again, but no preemption record came", "它被重新计算，但没有抢占记录"),
    WHY_RAN_OUT_BY_ITSELF(
            Use.REASON,
            "preemption record; it ran out of blocks by its own allocation, the culprit is the largest other holder",
            "抢占记录；它因自己的分配而用尽了块，责任方是其他占用最多者"),
    WHY_STEPS_BRACKET_IT(
            Use.REASON,
            "step records bracket the time; nothing says what the engine did in it",
            "步记录前后界定了这段时间；没有记录说明引擎在其中做了什么"),
    WHY_MODE_IS_NEW(
            Use.REASON,
            "graph mode in the step record; the model has seen too few steps of that mode to say what they take",
            "步记录中的 graph 模式；模型见过的该模式的步太少，无法说出其用时"),
    WHY_MODEL_EXPLAINS(
            Use.REASON, "the model of this engine explains it; no record of a mechanism", "该引擎的模型可以解释；没有机制的记录"),
    WHY_PARTS_CLOSE(Use.REASON, "the parts are close", "各部分相近"),
    WHY_MODEL_COLD(Use.REASON, "the model is still cold", "模型尚未学成"),
    WHY_PREEMPTION_RECORD(Use.REASON, "preemption record", "抢占记录"),
    WHY_OTHERS_RECOMPUTED(Use.REASON, "recomputed tokens of another request in the step", "该步中有另一请求重新计算的 token"),
    WHY_OTHERS_PROMPT(Use.REASON, "prompt tokens of another request in the step", "该步中有另一请求的 prompt token"),
    WHY_READY_WITHOUT_CORE(Use.REASON, "core records: ready without a core", "CPU 核记录：就绪却得不到核"),
    WHY_GRAPH_MODE(Use.REASON, "graph mode in the step record", "步记录中的 graph 模式"),
    WHY_NEITHER_RAN(Use.REASON, "core records: neither on a core nor ready", "CPU 核记录：既不在核上也未就绪"),
    WHY_WAITED_FOR_BLOCK_IO(
            Use.REASON,
            "core records: neither on a core nor ready, most of it for block I/O",
            "CPU 核记录：既不在核上也未就绪，大部分在等待块设备 I/O"),
    WHY_SCHEDULER(Use.REASON, "scheduler records", "调度器记录"),
    WHY_TRANSFER_RECORD(Use.REASON, "transfer record of this request over its wait", "该请求等待期间的传输记录"),
    WHY_LOAD_RECORD(Use.REASON, "load record of this request over its wait", "该请求等待期间的载入记录"),
    WHY_COMPILE_RECORD(Use.REASON, "compile record over the step", "该步期间的编译记录"),
    WHY_ALLOCATOR_RECORD(Use.REASON, "allocator record over the step", "该步期间的分配器记录"),
    WHY_ALLOCATOR_COUNTED(
            Use.REASON,
            "the allocator's count of retries or failures rose around the step; how long it took is not recorded",
            "分配器的重试或失败次数在该步前后上升；用时没有记录"),
    WHY_CALL_WAITED(Use.REASON, "record of the call that waited", "等待的那次调用的记录"),
    WHY_DRIVER_CODE(Use.REASON, "the driver's error code on a record over the step", "该步期间某条记录上的驱动错误码"),
    WHY_DRIVER_CODE_ONLY(
            Use.REASON, "the driver's error code in the step; how long it took is not recorded", "该步中的驱动错误码；用时没有记录"),
    WHY_DRIVER_CODES(Use.REASON, "the driver's error code on records over the steps", "各步期间记录上的驱动错误码"),
    WHY_ALL_KERNELS_LONGER(
            Use.REASON, "all kernels took longer as the sampled clock was lower", "采样到的时钟降低时所有 kernel 都变慢"),
    WHY_STEP_LONGER_BY_CLOCK(
            Use.REASON,
            "the step took longer as the sampled clock was lower; no kernel record shows that all kernels did",
            "采样到的时钟降低时该步变长；没有 kernel 记录表明所有 kernel 都如此"),
    WHY_STEPS_LONGER_BY_CLOCK(Use.REASON, "steps took longer as the sampled clock was lower", "采样到的时钟降低时各步变长"),
    WHY_COLLECTIVE_RECORDS(Use.REASON, "records of the collective", "集合通信的记录"),
    WHY_KERNELS_AT_THE_CLOCK(
            Use.REASON,
            "kernel records against the same kernels before, at the same clock",
            "kernel 记录与此前相同时钟下的相同 kernel 对比"),
    WHY_KERNELS_CLOCK_UNKNOWN(
            Use.REASON,
            "kernel records against the same kernels before; no device sample says what the clock was",
            "kernel 记录与此前的相同 kernel 对比；没有设备采样说明时钟是多少"),
    WHY_PAUSE_RECORD(Use.REASON, "pause record over the step", "该步期间的停顿记录"),
    WHY_OTHER_KERNEL(
            Use.REASON, "kernel records: another kernel than this shape usually runs", "kernel 记录：不是该形状通常运行的 kernel"),
    WHY_NO_STAMP_BETWEEN(
            Use.REASON, "no stamp between the engine and the client tells where it waited", "引擎与客户端之间没有时间戳说明它在哪里等待"),
    WHY_CADENCE(Use.REASON, "the engine's even cadence against chunks that came in groups", "引擎节奏均匀而 chunk 成组到来"),
    WHY_ARRIVAL_AGAINST_WRITE(Use.REASON, "arrival at the gateway against its write", "到达网关的时刻与其写出时刻对比"),
    WHY_ARRIVAL_AGAINST_WRITES(Use.REASON, "arrival at the gateway against its writes", "到达网关的时刻与其各次写出时刻对比"),
    WHY_SOCKET_FULL(
            Use.REASON,
            "the gateway's write to the client had to wait: the client's socket was full",
            "网关向客户端的写出不得不等待：客户端的 socket 已满"),
    WHY_BOTH_ENDS(
            Use.REASON,
            "stamps at both ends, on clocks that are aligned better than the excess",
            "两端的时间戳，其时钟对齐误差小于超出量"),
    WHY_CLOCKS_TOO_WIDE(Use.REASON, "the clocks at both ends are aligned no better than the excess", "两端时钟的对齐误差不小于超出量"),
    WHY_LEFT_LATE(
            Use.REASON, "the end of the step against the arrival at the gateway, on one clock", "步的结束与到达网关的时刻对比，同一时钟"),
    WHY_LEFT_LATE_ALIGNED(
            Use.REASON,
            "the end of the step against the arrival at the gateway, on aligned clocks; the way between them is in it",
            "步的结束与到达网关的时刻对比，时钟已对齐；其间的路程也包含在内"),
    WHY_NOTHING_BETWEEN(
            Use.REASON,
            "made on time and received late on the same clock; nothing was recorded between engine and client",
            "按时产生而在同一时钟上收到得晚；引擎与客户端之间没有任何记录"),
    WHY_NO_STEP(Use.REASON, "no engine step was reported for this request", "没有报告该请求的引擎步"),
    WHY_CLIENT_CLOSED(Use.REASON, "the client closed the stream", "客户端关闭了流"),
    WHY_ENGINE_ABORTED(Use.REASON, "the engine recorded an abort", "引擎记录了一次中止"),
    WHY_SAME_HASHES_EVICTED(
            Use.REASON, "the same block hashes were stored, evicted and stored again", "相同的块哈希被存储、逐出又再次存储"),
    WHY_SAME_HASHES(Use.REASON, "the same block hashes were stored before and are stored again", "相同的块哈希以前存储过，现在又被存储"),
    WHY_ITS_PREEMPTIONS(Use.REASON, "its preemption records", "它的抢占记录"),
    WHY_ORDER(Use.REASON, "preemption record and the order of scheduling", "抢占记录与调度顺序"),
    WHY_LINE_WITH_CONTEXT(
            Use.REASON,
            "gap rises in a line with the request's own context, and the engine's model has that slope",
            "间隔随请求自身的上下文线性上升，引擎的模型有相同的斜率"),
    WHY_KV_AT_RISES(Use.REASON, "KV events are enriched at the rises", "KV 事件在台阶处更密集"),
    WHY_SHAPE_ALONE(Use.REASON, "cause unproven: the shape alone", "原因未经证实：仅有形状"),
    WHY_PAUSES(Use.REASON, "pause or core records over each of them", "每次停顿期间的停顿记录或 CPU 核记录"),
    WHY_GRAPH_MODES(Use.REASON, "graph mode of the steps", "各步的 graph 模式"),
    WHY_KERNELS_OF_STEPS(
            Use.REASON,
            "kernel records of the steps against those of the same shapes before",
            "各步的 kernel 记录与此前相同形状的对比"),
    WHY_NEEDED_AGAIN(
            Use.REASON, "records of preemptions or evictions whose blocks were needed again", "抢占或逐出的记录，其块又被需要"),
    WHY_EVICTED_NEEDED_AGAIN(
            Use.REASON,
            "evicted blocks were needed again; how full the pool was is not recorded",
            "被逐出的块又被需要；池有多满没有记录"),
    WHY_RECOMPUTED_TOKENS(Use.REASON, "preemption records and recomputed tokens of the steps", "抢占记录与各步重新计算的 token"),
    WHY_MOVED_TOGETHER(Use.REASON, "batch and step time of the steps, moving together", "各步的批次与步时间一同变化"),
    WHY_SHARDS(Use.REASON, "shard records of this start and of earlier ones", "这次启动与更早启动的分片记录"),
    WHY_COUNTERS_NO_BLOCK(
            Use.REASON,
            "counters of the engine; no record of a block that was taken and needed again",
            "引擎的计数器；没有块被取走又被需要的记录"),
    WHY_RUNNING_COUNT(Use.REASON, "the count of running sequences; no step times", "运行中的序列数；没有步时间"),
    WHY_EVERY_SCRAPE(Use.REASON, "every scrape of the stretch", "这一段的每次采样"),
    WHY_COUNTERS_NO_STAMPS(
            Use.REASON,
            "counters of the engine; no queued and scheduled stamp of any request, so no token carries a cause",
            "引擎的计数器；没有任何请求的排队与调度时间戳，因此没有 token 带有原因"),
    WHY_RATES(
            Use.REASON,
            "rates of the engine as a whole; no step, so which prompt held which token up is not known",
            "引擎整体的速率；没有步，因此不知道哪个 prompt 拖慢了哪个 token"),
    WHY_SUCCESS_COUNT(Use.REASON, "the count of requests that succeeded", "成功请求的数目"),
    WHY_AGGREGATES(Use.REASON, "aggregates of runs; no step and no token of any", "各次运行的汇总值；没有任何步与 token"),
    WHY_COUNTED_OVER_TRACE(Use.REASON, "counted over the trace", "对整个 trace 计数"),
    WHY_HASHES_NO_CACHE(Use.REASON, "hashes of prompt blocks; no cache was observed", "prompt 块的哈希；没有观察到缓存"),
    WHY_REQUEST_STAMPS(
            Use.REASON,
            "stamps of the engine's clock; no time of a token between the first and the last",
            "引擎时钟的时间戳；首末之间没有 token 的时刻"),
    WHY_CONTEXT_FULL(
            Use.REASON, "what the server said when it ended them; no record of the blocks", "服务器结束它们时的说法；没有块的记录"),
    WHY_FORWARD_PASSES(
            Use.REASON, "a record of every forward pass; none of which requests were in it", "每次前向计算的记录；其中没有说明包含哪些请求"),
    WHY_STAGES_MATCHED(Use.REASON, "every stage of the rule matched a recorded milestone", "规则的每个阶段都匹配到一个已记录的里程碑"),
    WHY_NOT_SLOW(
            Use.REASON,
            "the token is not slow by the definition of causes: what is usual here is beyond the limit, or its own prompt is",
            "按原因的定义该 token 并不慢：此处的通常值超过上限，或它自己的 prompt 如此"),
    WHY_NO_STAMP(Use.REASON, "no stamp tells where it waited", "没有时间戳说明它在哪里等待"),
    WHY_DELIVERED_LATE(
            Use.REASON,
            "the delivery of this token was late; its late-delivery finding says how far the evidence carries",
            "该 token 送达晚了；其送达晚的发现说明证据能说明到什么程度"),
    WHY_BEFORE_THE_QUEUE(
            Use.REASON,
            "no record tells what passed between the sending and the engine's queue",
            "没有记录说明发送与引擎队列之间发生了什么"),

    // What stands around a narrative where it is printed as text.
    LABEL_ESTABLISHED(Use.LABEL, "established", "已证实"),
    LABEL_CONSISTENT(Use.LABEL, "consistent-with", "相符"),
    LABEL_UNRESOLVED(Use.LABEL, "unresolved", "未解"),
    LABEL_CULPRIT(Use.LABEL, "culprit {0}", "责任方 {0}"),
    LABEL_MISSING(Use.LABEL, "missing {0}", "缺少 {0}"),
    LABEL_ORIGIN(Use.LABEL, "rule {0} revision {1}, finding {2}", "规则 {0} 修订 {1}，发现 {2}"),
    LABEL_LIMIT(Use.LABEL, "limit {0} {1}, took {2} ({3})", "上限 {0} {1}，实际 {2}（{3}）"),
    LABEL_NO_CAUSE(Use.LABEL, "no cause", "无原因"),
    LABEL_ON_TIME(Use.LABEL, "on time, state {0}", "按时，状态 {0}"),
    LABEL_STATE(Use.LABEL, "state {0}", "状态 {0}"),
    LABEL_GAP_UNKNOWN(Use.LABEL, "gap unknown: a stamp is missing", "间隔未知：缺少时间戳"),
    LABEL_GAP(
            Use.LABEL,
            "gap {0}{1}   expected {2}   reference {3}   excess {4}",
            "间隔 {0}{1}   预期 {2}   参考 {3}   超出 {4}"),
    LABEL_BY_ARRIVAL(Use.LABEL, " (by arrival: no engine record)", "（按到达时刻：没有引擎记录）"),
    LABEL_WHY(Use.LABEL, "why", "原因"),
    LABEL_DELIVERED(Use.LABEL, "delivered {0} after it was made", "产生 {0} 之后送达"),
    LABEL_UNDECIDABLE(Use.LABEL, " +- {0}, order undecidable", " +- {0}，先后不可判定"),
    LABEL_MISSING_LAYERS(
            Use.LABEL, "missing layers: {0} (no cause is drawn from their silence)", "缺少的层：{0}（不从其沉默推断任何原因）"),
    LABEL_REMARK(Use.LABEL, "remark", "备注"),
    LABEL_REQUEST(Use.LABEL, "request {0}   ended: {1}", "请求 {0}   结束：{1}"),
    LABEL_WARMUP(Use.LABEL, ", warm-up: not analysed", "，预热：未分析"),
    LABEL_RECORD(Use.LABEL, ", record: {0}", "，记录：{0}"),
    LABEL_ALSO(Use.LABEL, "also {0}", "又名 {0}"),
    LABEL_ON(Use.LABEL, "on {0}", "位于 {0}"),
    LABEL_UNDATED(Use.LABEL, "undated", "无日期"),
    LABEL_FROM(Use.LABEL, "from {0}", "始于 {0}"),
    LABEL_TOKEN(Use.LABEL, "token {0}", "{0} 号 token"),
    LABEL_TOKEN_OF(Use.LABEL, "token {0} of {1}", "{0} 号 token，共 {1} 个"),
    LABEL_STEP(Use.LABEL, "step {0}", "步 {0}"),
    LABEL_STEP_OF(Use.LABEL, "step {0} of {1}", "{1} 的步 {0}"),
    LABEL_BATCH(Use.LABEL, "batch {0}", "批 {0}"),
    LABEL_CONTEXT(Use.LABEL, "context {0}", "上下文 {0}"),
    LABEL_MADE(Use.LABEL, "made {0}", "产生于 {0}"),
    LABEL_TOKENS_NOT_COUNTED(Use.LABEL, "tokens not counted", "token 数未计"),
    LABEL_ONE_TOKEN(Use.LABEL, "1 token", "1 个 token"),
    LABEL_TOKENS(Use.LABEL, "{0} tokens", "{0} 个 token"),
    LABEL_PROMPT(Use.LABEL, "prompt {0}", "提示 {0}"),
    LABEL_CACHED(Use.LABEL, " ({0} cached)", "（缓存命中 {0}）"),
    LABEL_ONE_PREEMPTION(Use.LABEL, "1 preemption", "被抢占 1 次"),
    LABEL_PREEMPTIONS(Use.LABEL, "{0} preemptions", "被抢占 {0} 次"),
    LABEL_RECOMPUTED(Use.LABEL, ", {0} recomputed", "，重算 {0}"),
    LABEL_REQUEST_CAUSES(Use.LABEL, "causes of the request: {0}", "请求的原因：{0}"),
    LABEL_BEYOND_LIMITS(Use.LABEL, "beyond the limits: {0}", "超过上限：{0}"),
    LABEL_MORE(Use.LABEL, ", {0} more", "，另有 {0} 处"),
    LABEL_LAYERS(Use.LABEL, "missing layers: {0}", "缺少的层：{0}"),
    LABEL_GAPS(
            Use.LABEL, "gaps after the first token, largest {0} at token {1}", "第一个 token 之后的间隔，最大 {0}，在 {1} 号 token"),
    LABEL_WORST_OF(Use.LABEL, " (a column is the worst of {0})", "（每列为 {0} 个中最差的）"),
    LABEL_NO_GAP(Use.LABEL, "no gap between tokens is known: a stamp is missing", "token 之间的间隔均未知：缺少时间戳"),
    LABEL_NO_SLOW_TOKEN(Use.LABEL, "no slow token", "没有慢 token"),
    LABEL_ONE_SLOW(Use.LABEL, "1 slow token lost {0}", "1 个慢 token 损失 {0}"),
    LABEL_SLOW(Use.LABEL, "{1} slow tokens lost {0}", "{1} 个慢 token 损失 {0}"),
    LABEL_ONE_LATE(Use.LABEL, "1 token delivered late", "1 个 token 送达晚"),
    LABEL_LATE(Use.LABEL, "{0} tokens delivered late", "{0} 个 token 送达晚"),
    LABEL_WORST(Use.LABEL, "; the worst {0}:", "；最差的 {0} 个："),
    LABEL_LATE_BY(Use.LABEL, "late: {0}", "晚：{0}"),
    LABEL_BY(Use.LABEL, "  by {0}", "  由 {0}"),
    LABEL_HEAD_TOKEN(Use.LABEL, "token", "token 号"),
    LABEL_HEAD_GAP(Use.LABEL, "gap ms", "间隔 ms"),
    LABEL_HEAD_EXPECTED(Use.LABEL, "expected", "预期"),
    LABEL_HEAD_REFERENCE(Use.LABEL, "reference", "参考"),
    LABEL_DELIVERY(Use.LABEL, "delivery", "送达"),
    LABEL_HEAD_STATE(Use.LABEL, "state", "状态"),
    LABEL_HEAD_CAUSE(Use.LABEL, "cause", "原因"),
    LABEL_HEAD_CONFIDENCE(Use.LABEL, "confidence", "可信程度"),
    LABEL_HEAD_REQUEST(Use.LABEL, "request", "请求"),
    LABEL_HEAD_TOKENS(Use.LABEL, "tokens", "token 数"),
    LABEL_HEAD_SLOW(Use.LABEL, "slow", "慢"),
    LABEL_HEAD_TTFT(Use.LABEL, "TTFT ms", "首 token ms"),
    LABEL_HEAD_TPOT(Use.LABEL, "TPOT ms", "均隔 ms"),
    LABEL_HEAD_WORST(Use.LABEL, "worst ms", "最差 ms"),
    LABEL_HEAD_END(Use.LABEL, "end", "结束"),
    LABEL_HEAD_WORST_CAUSE(Use.LABEL, "worst cause", "最大的原因"),
    LABEL_CAUSE_AT(Use.LABEL, "{0} at {1}", "{0}，在 {1} 号"),
    LABEL_NOT_ANALYSED(Use.LABEL, "(warm-up, not analysed)", "（预热，未分析）"),
    LABEL_ROW_GAP(Use.LABEL, "gap", "间隔"),
    LABEL_FIND_ARCHIVE(Use.LABEL, "archive", "归档"),
    LABEL_FIND_TIME(Use.LABEL, "time", "时间"),
    LABEL_FIND_REQUESTS(Use.LABEL, "requests", "请求"),
    LABEL_FIND_FINDINGS(Use.LABEL, "findings", "发现"),
    LABEL_FIND_MISSING(Use.LABEL, "missing", "缺少"),
    LABEL_FIND_LOST(Use.LABEL, "lost", "丢失"),
    LABEL_FIND_LIMITS(Use.LABEL, "limits", "上限"),
    LABEL_FIND_SPAN(Use.LABEL, "{0} to {1}", "{0} 至 {1}"),
    LABEL_FIND_ONE_SEQUENCE(Use.LABEL, "{0} with 1 sequence", "{0}，共 1 个序列"),
    LABEL_FIND_SEQUENCES(Use.LABEL, "{0} with {1} sequences", "{0}，共 {1} 个序列"),
    LABEL_FIND_WITHOUT(Use.LABEL, ", {0} without a token", "，{0} 个没有 token"),
    LABEL_FIND_SLOW(Use.LABEL, "{0}, {1} slow", "{0}，{1} 个慢"),
    LABEL_FIND_LATE(Use.LABEL, ", {0} delivered late", "，{0} 个送达晚"),
    LABEL_FIND_NONE(Use.LABEL, "none", "无"),
    LABEL_FIND_ONE_MESSAGE(Use.LABEL, "1 message, numbers {0} to {1}", "1 条消息，编号 {0} 至 {1}"),
    LABEL_FIND_MESSAGES(Use.LABEL, "{2} messages, numbers {0} to {1}", "{2} 条消息，编号 {0} 至 {1}"),
    LABEL_FIND_TALLY(Use.LABEL, "{0} {1}: {2} of {3} beyond", "{0} {1}：{3} 个中 {2} 个超过"),
    LABEL_FIND_WHOLE(Use.LABEL, "whole input", "全部输入"),
    LABEL_FIND_ENGINE(Use.LABEL, "engine {0}", "引擎 {0}"),
    LABEL_FIND_TOKENS(Use.LABEL, "tokens {0}-{1}", "{0}-{1} 号 token");

    /** What a template is used for. */
    public enum Use {
        /** A sentence of a narrative: ends in a full stop. */
        SENTENCE,
        /** Part of a sentence: stands as a value of another template, several of them joined by {@code "; "}. */
        CLAUSE,
        /** Why something is as sure as it is, {@code confidence.why}. */
        REASON,
        /** Stands around a narrative where it is printed as text; never archived. */
        LABEL
    }

    private static final List<Phrase> BY_WORDS = List.of(values()).stream()
            .sorted(Comparator.comparingInt((Phrase phrase) -> -phrase.english.wordCharacters()))
            .toList();

    private final Use use;
    private final Template english;
    private final Template chinese;
    private final Pattern pattern;

    Phrase(String english, String chinese) {
        this(Use.SENTENCE, english, chinese);
    }

    Phrase(Use use, String english, String chinese) {
        this.use = use;
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
            if (values.isEmpty()) {
                return text;
            }
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

    /** The English text with these values. */
    public String say(Object... values) {
        return english.fill(values);
    }

    /** The text in a language with these values. */
    public String say(Language language, Object... values) {
        return (language == Language.ZH ? chinese : english).fill(values);
    }

    /** The template in a language; values stand as {@code {0}}, {@code {1}} and so on. */
    public String template(Language language) {
        return (language == Language.ZH ? chinese : english).text();
    }

    /** What it is used for. */
    public Use use() {
        return use;
    }

    /** The values of an English text of this template, in the order they stand in it; null where it is none. */
    @Nullable
    List<String> valuesOf(String text) {
        Matcher values = pattern.matcher(text);
        if (!values.matches()) {
            return null;
        }
        List<String> given =
                new ArrayList<>(Collections.nCopies(english.values().size(), ""));
        for (int i = 0; i < english.values().size(); i++) {
            given.set(english.values().get(i), values.group(i + 1));
        }
        return given;
    }

    /** The phrase of an English text without its ids; null where it is none. The one with most words of its own wins. */
    static @Nullable Phrase of(Use use, String text) {
        for (Phrase phrase : BY_WORDS) {
            if (phrase.use == use && phrase.pattern.matcher(text).matches()) {
                return phrase;
            }
        }
        return null;
    }
}
