"""The records that go over the wire, as msgpack arrays, and their first element, the kind.

A message has two frames. The first is the envelope

    ["tokenstair-probe", WIRE_VERSION, source, role, rank, engine, firstSequence, count, lost, beforeNanos,
     wallNanos, afterNanos, machine]

source: text, new at each start of a process; one process has up to two, each with sequences of its own.
role: engine, api or worker. rank: data-parallel rank, null where none applies. engine: TOKENSTAIR_ENGINE_ID, or null.
firstSequence, count: numbers of the records in the second frame. A number that never comes was lost.
lost: how many records of this source could not be sent so far.
beforeNanos, wallNanos, afterNanos: two readings of the monotonic clock around one of the wall clock.
machine: the boot id of the kernel whose clocks these are.

The second frame holds the records one after the other. All stamps are nanoseconds of the monotonic clock. Kinds:

    0  UNENCODABLE  a record that could not be encoded: only its place is kept
    1  STEP         [1, step, scheduleStart, scheduleEnd, updateStart, updateEnd, running, waiting, kvFreeBlocks, waitReason,
                     {id: scheduled tokens}, cached ids or null, [computed before], [outputs before], resumed ids or null, new or null,
                     emitting ids or null, [tokens] or null, finishes or null, kvBatchSequence or null, graphMode or null,
                     paddedBatch or null, probeNanos]
    2  QUEUED       [2, stamp, id, arrival wall seconds, prompt tokens, max tokens, priority]
    3  ENDED        [3, stamp, [[id, output tokens]], status]
    4  PREEMPTED    [4, stamp, step, id, reason, wantedBy or null, computed, outputs, priority, nth, free blocks]
    5  EVICTED      [5, stamp, step, reason, wantedBy or null, asked blocks, [hash], [times reused], [idle nanos or -1], carried]
    6  OPEN         [6, stamp, [[id, prompt tokens, max tokens, priority, preemptions, arrival wall seconds]]]
    7  ENGINE       [7, stamp, {what the engine's limits are}]
    8  PAUSED       [8, cause, start, end]
    9  PROCESS      [9, stamp, {what process this is}]
    10 SHARD        [10, start, end, name, bytes or null, device or null, how]
    11 LOOKUP       [11, stamp, rank, queried, hits, preempted queried, preempted hits]
    12 TOTAL        [12, stamp, name, nanos, calls]
    13 KV_EVENTS    [13, stamp, kvBatchSequence, batch]
    14 SAME_STEPS   [14, steps]

In a STEP, "cached ids" is null where the ids of the map are those of the cached sequences in the same order; "emitting ids" is null
where every scheduled sequence has an output, in the same order; "tokens" is null where each output has one token.
In an EVICTED, "carried" is true where a KV_EVENTS that comes later names the same blocks. In a KV_EVENTS, "batch" is a byte string: the
payload of a message of vLLM's KV publisher, in its older form (kvbatches.py).
SAME_STEPS are several records, one for each 96 bytes of the byte string "steps": 12 numbers of 8 bytes, big-endian: step, scheduleStart,
scheduleEnd, running, waiting, kvFreeBlocks or -1, waitReason, probeNanos or -1, base, updateStart, updateEnd, kvBatchSequence or -1. Such a step had
the sequences of the STEP "base", each scheduled one token, gave each one token, and ended none: "computed before" and "outputs before" are
those of the base and as many more as the steps lie apart.
new: [[id, computed, outputs, preemptions]]. finishes: [[position among the outputs, reason]].
"""

MAGIC = "tokenstair-probe"
WIRE_VERSION = 2

UNENCODABLE = 0
STEP = 1
QUEUED = 2
ENDED = 3
PREEMPTED = 4
EVICTED = 5
OPEN = 6
ENGINE = 7
PAUSED = 8
PROCESS = 9
SHARD = 10
LOOKUP = 11
TOTAL = 12
KV_EVENTS = 13
SAME_STEPS = 14

# Why the scheduler stopped: the first waiting sequence that it did not pass over was not scheduled, and with it all behind it. Where all were
# passed over, why the first of them was.
WAIT_UNKNOWN = 0
WAIT_SEATS = 1
WAIT_KV_BLOCKS = 2
WAIT_TOKEN_BUDGET = 3
WAIT_GRAMMAR = 4
WAIT_REMOTE_KV = 5
WAIT_INPUT = 6
# Where seats and tokens were left: by the status of the request. The later ones wait for something that is no resource of the step.
WAIT_BY_STATUS = {
    "WAITING": WAIT_KV_BLOCKS, "PREEMPTED": WAIT_KV_BLOCKS, "WAITING_FOR_FSM": WAIT_GRAMMAR,
    "WAITING_FOR_STRUCTURED_OUTPUT_GRAMMAR": WAIT_GRAMMAR, "WAITING_FOR_REMOTE_KVS": WAIT_REMOTE_KV, "WAITING_FOR_STREAMING_REQ": WAIT_INPUT}

# Why a sequence was preempted.
PREEMPT_KV_BLOCKS = 1
PREEMPT_OUTSIDE = 2

# What an evicted block made room for.
EVICT_UNKNOWN = 0
EVICT_CONTEXT_JUMP = 1
EVICT_ADMISSION = 2
EVICT_CAPACITY = 3
