"""What a scheduler did, as records. Knows no vLLM: it reads what it is given, and says nothing of what is not there."""
import logging
import sys
from collections import deque
from operator import attrgetter
from time import monotonic_ns

from tokenstair_probe import records
from tokenstair_probe.blocks import BlockLife
from tokenstair_probe.records import STEP

logger = logging.getLogger("vllm.tokenstair_probe")

ANNOUNCE_NANOS = 2_000_000_000
MAX_ANNOUNCED = 4096
MAX_OPEN_STEPS = 64
# Records that wait to be sent; a step makes two, and they are sent several times a second.
MAX_KEPT = 1024
MAX_ERRORS = 5

# Kinds of rows that are no records.
_BEGUN = -1
_ENDED = -2
_KV_BATCH = -3

_ids = attrgetter("request_id")
_tokens = attrgetter("new_token_ids")
_reasons = attrgetter("finish_reason")
_open = attrgetter("request_id", "num_prompt_tokens", "max_tokens", "priority", "num_preemptions", "arrival_time")


class StepRecorder:
    """Records of one scheduler. Whatever fails in here is counted, and switches it off when it goes on failing.

    A step begins and ends with cold caches, and whatever is done then pays for each line of memory it touches. So the scheduler's
    thread only takes what will not be there later, keeps what the engine made for the step and changes no more, and appends both to a
    queue. Another thread makes records of many steps at once, and sends them (`ship`).

    Rows of the queue: (_BEGUN, output, ...) and (_ENDED, output, ...) for a step, (_KV_BATCH, n) before the end of the step that
    published batch n, a number of records that found no room; and records as they are, told by their kind.
    """

    # Fields that every step reads lie together.
    __slots__ = ("_kept", "scheduler", "_waiting", "_queue", "_announced", "_dropped", "_preempted", "_step", "on", "errors", "outbox",
                 "_limits", "_kv_sequence", "_seats", "_budget", "_blocks", "on_close", "_open_steps", "_kv_batch")

    def __init__(self, scheduler, outbox, limits: dict) -> None:
        self.scheduler = scheduler
        self.outbox = outbox
        self.on = True
        self.errors = 0
        self.on_close = None
        self._limits = limits
        self._step = 0
        self._open_steps: deque = deque()
        self._dropped = 0
        self._preempted = False
        self._kv_sequence = 0
        self._kv_batch: int | None = None
        # The length of a deque without a detour through methods that a subclass wrote in Python.
        self._waiting = [deque.__len__.__get__(queue) if isinstance(queue, deque) else queue.__len__
                         for name in ("waiting", "skipped_waiting", "kv_holding_waiting")
                         if (queue := getattr(scheduler, name, None)) is not None]
        self._seats = getattr(scheduler, "max_num_active_reqs", None) or getattr(scheduler, "max_num_running_reqs", None)
        self._budget = getattr(scheduler, "max_num_scheduled_tokens", None)
        pool = getattr(getattr(scheduler, "kv_cache_manager", None), "block_pool", None)
        self._queue = getattr(pool, "free_block_queue", None)
        if not isinstance(getattr(self._queue, "num_free_blocks", None), int):
            self._queue = None
        self._blocks = BlockLife(pool, self._evicted) if pool is not None else None
        self._watch_publisher(getattr(scheduler, "kv_event_publisher", None))
        self._announced = monotonic_ns()
        self._kept: deque = deque(self._announcement(self._announced))

    def failed(self, what: str) -> None:
        self.errors += 1
        if self.errors >= MAX_ERRORS and self.on:
            self.on = False
            logger.exception(
                "The probe failed %d times, last in %s: it records no more. The engine is not affected.",
                self.errors, what)

    def _watch_publisher(self, publisher) -> None:
        publish = getattr(publisher, "publish", None)
        if publish is None or type(publisher).__name__ == "NullEventPublisher":
            return

        def counted(batch):
            # The publisher numbers its batches from 0 in the order it is given them.
            self.keep((_KV_BATCH, self._kv_sequence))
            self._kv_sequence += 1
            return publish(batch)

        publisher.publish = counted

    # ---- the step

    def scheduled(self, output, start: int) -> None:
        end = monotonic_ns()
        try:
            waiting = 0
            for length in self._waiting:
                waiting += length()
            running = len(self.scheduler.running)
            reason, fresh = 0, None
            if waiting:
                reason = self._wait_reason(output, running)
            if output.scheduled_new_reqs:
                requests = self.scheduler.requests
                fresh = [self._fresh(row, requests) for row in output.scheduled_new_reqs]
            self._preempted = False
            step = self._step
            self._step = step + 1
            queue = self._queue
            self.keep((
                _BEGUN, output, step, start, end, running, waiting, None if queue is None else queue.num_free_blocks, reason, fresh,
                monotonic_ns() - end))
        except Exception:
            self.keep((records.UNENCODABLE,))
            self.failed("schedule")

    @staticmethod
    def _fresh(row, requests) -> tuple:
        request = requests.get(row.req_id)
        return (row.req_id, row.num_computed_tokens, getattr(request, "num_output_tokens", 0),
                getattr(request, "num_preemptions", 0))

    def _wait_reason(self, output, running: int) -> int:
        if self._preempted:
            # No waiting sequence is looked at in a step that had to preempt.
            return records.WAIT_KV_BLOCKS
        if self._seats is not None and running >= self._seats:
            return records.WAIT_SEATS
        if self._budget is not None and output.total_num_scheduled_tokens >= self._budget:
            return records.WAIT_TOKEN_BUDGET
        try:
            head = self.scheduler.waiting.peek_request()
        except Exception:
            return records.WAIT_UNKNOWN
        # Other states wait for something that is no resource of the step: a grammar, or KV of another node.
        return records.WAIT_KV_BLOCKS if head.status.name in ("WAITING", "PREEMPTED") else records.WAIT_UNKNOWN

    def updated(self, output, result, start: int) -> None:
        end = monotonic_ns()
        self.keep((_ENDED, output, result, start, end))
        if end - self._announced >= ANNOUNCE_NANOS:
            self._announced = end
            try:
                for record in self._announcement(end):
                    self.keep(record)
            except Exception:
                self.failed("an announcement")

    def keep(self, row: tuple) -> None:
        """Takes a row in its place. Where it finds no room it is lost, and the next that does tells how many records that makes."""
        kept = self._kept
        if len(kept) >= MAX_KEPT:
            # A step is one record, and counts where it ends.
            if row[0] != _BEGUN and row[0] != _KV_BATCH:
                self._dropped += 1
            return
        if self._dropped:
            kept.append(self._dropped)
            self._dropped = 0
        kept.append(row)

    # ---- where records are made, many at once

    def ship(self) -> None:
        """Encodes and sends what was kept, in its order. For one thread, which need not be the scheduler's."""
        kept = self._kept
        outbox = self.outbox
        put = outbox.put
        for _ in range(len(kept)):
            row = kept.popleft()
            try:
                if type(row) is int:
                    outbox.lose(row)
                elif (kind := row[0]) == _BEGUN:
                    opened = self._open_steps
                    if len(opened) >= MAX_OPEN_STEPS:
                        opened.clear()
                    opened.append(row)
                elif kind == _ENDED:
                    self._end(row)
                elif kind == _KV_BATCH:
                    self._kv_batch = row[1]
                else:
                    put(row)
            except Exception:
                put((records.UNENCODABLE,))
                self.failed("a step's record")
            if outbox.is_full():
                outbox.flush()
        outbox.flush()

    def _end(self, row: tuple) -> None:
        _, output, result, start, end = row
        kv_batch = self._kv_batch
        self._kv_batch = None
        # Steps end in the order they began in; one whose end never came is passed over.
        opened = self._open_steps
        while opened and opened[0][1] is not output:
            if not any(each[1] is output for each in opened):
                opened = ()
                break
            opened.popleft()
        if not opened:
            # Its beginning found no room, or was before the probe was switched on.
            self.outbox.lose(1)
            return
        _, _, step, schedule_start, schedule_end, running, waiting, free, reason, fresh, own = opened.popleft()
        scheduled = output.num_scheduled_tokens
        cached = output.scheduled_cached_reqs
        outs = ()
        for each in result.values():
            outs = each.outputs if not outs else [*outs, *each.outputs]
        emitting = finishes = None
        tokens = list(map(len, map(_tokens, outs)))
        count = len(tokens)
        if tokens.count(1) == count:
            # Every output has its token, so none was made for a sequence that failed, and as many as were scheduled are those.
            tokens = None
            if count != len(scheduled):
                emitting = list(map(_ids, outs))
        else:
            emitting = list(map(_ids, outs))
        reasons = list(map(_reasons, outs))
        if reasons.count(None) != count:
            finishes = [(i, str(r)) for i, r in enumerate(reasons) if r is not None]
        resumed = cached.resumed_req_ids
        self.outbox.put((
            STEP, step, schedule_start, schedule_end, start, end, running, waiting, free, reason, scheduled,
            cached.req_ids if fresh else None, cached.num_computed_tokens, cached.num_output_tokens,
            list(resumed) if resumed else None, fresh, emitting, tokens, finishes, kv_batch, None, None, own))

    # ---- what a step does now and then

    def close(self) -> None:
        """The engine ends: what is kept is sent, and little time is taken for it."""
        self.on = False
        whoever_ships, self.on_close = self.on_close, None
        if whoever_ships is not None:
            whoever_ships()

    def _announcement(self, now: int) -> list:
        """What a collector that comes later must know: the engine's limits and the open sequences."""
        found = [(records.ENGINE, now, self._limits)]
        requests = self.scheduler.requests
        if requests:
            values = requests.values()
            if len(requests) > MAX_ANNOUNCED:
                values = list(values)[-MAX_ANNOUNCED:]
            found.append((records.OPEN, now, list(map(_open, values))))
        return found

    # ---- what happens now and then

    def queued(self, request) -> None:
        try:
            now = monotonic_ns()
            self.keep((
                records.QUEUED, now, request.request_id, getattr(request, "arrival_time", None),
                getattr(request, "num_prompt_tokens", None), getattr(request, "max_tokens", None),
                getattr(request, "priority", None)))
        except Exception:
            self.failed("add_request")

    def ending(self, request_ids) -> list:
        """The sequences that a call of finish_requests is about to end, with their output so far."""
        try:
            requests = self.scheduler.requests
            if request_ids is None:
                request_ids = list(requests)
            elif isinstance(request_ids, str):
                request_ids = (request_ids,)
            found = map(requests.get, request_ids)
            return [(r.request_id, r.num_output_tokens) for r in found if r is not None and not r.is_finished()]
        except Exception:
            self.failed("finish_requests")
            return []

    def ended(self, rows: list, status) -> None:
        try:
            if rows:
                now = monotonic_ns()
                self.keep((records.ENDED, now, rows, getattr(status, "name", str(status))))
        except Exception:
            self.failed("finish_requests")

    def preempting(self, request) -> None:
        try:
            now = monotonic_ns()
            self._preempted = True
            frame = _caller("schedule")
            wanting = frame.f_locals.get("request") if frame is not None else None
            self.keep((
                records.PREEMPTED, now, self._step, request.request_id,
                records.PREEMPT_KV_BLOCKS if frame is not None else records.PREEMPT_OUTSIDE,
                getattr(wanting, "request_id", None), request.num_computed_tokens, request.num_output_tokens,
                getattr(request, "priority", None), getattr(request, "num_preemptions", 0) + 1,
                self._queue.num_free_blocks if self._queue is not None else None))
        except Exception:
            self.failed("_preempt_request")

    def _evicted(self, asked: int, hashes: list, reused: list, idle: list) -> None:
        if not self.on:
            return
        try:
            now = monotonic_ns()
            frame = _caller("allocate_slots")
            request = frame.f_locals.get("request") if frame is not None else None
            status = getattr(getattr(request, "status", None), "name", None)
            if status is None:
                reason = records.EVICT_UNKNOWN
            elif status != "RUNNING":
                reason = records.EVICT_ADMISSION
            else:
                reason = records.EVICT_CONTEXT_JUMP if asked > 1 else records.EVICT_CAPACITY
            self.keep((
                records.EVICTED, now, self._step, reason, getattr(request, "request_id", None), asked, hashes, reused,
                idle))
        except Exception:
            self.failed("get_new_blocks")


def _caller(function: str):
    """The nearest frame on the stack of a function of this name that is not ours; None where there is none."""
    frame = sys._getframe(2)
    for _ in range(16):
        if frame is None:
            return None
        code = frame.f_code
        if code.co_name == function and "tokenstair_probe" not in code.co_filename:
            return frame
        frame = frame.f_back
    return None


class Recording:
    """Put before a scheduler class: every override calls its parent and only reads afterwards."""

    _tokenstair: StepRecorder | None = None

    def schedule(self, *args, **kwargs):
        recorder = self._tokenstair
        if recorder is None or not recorder.on:
            return super().schedule(*args, **kwargs)
        start = monotonic_ns()
        output = super().schedule(*args, **kwargs)
        recorder.scheduled(output, start)
        return output

    def update_from_output(self, scheduler_output, *args, **kwargs):
        recorder = self._tokenstair
        if recorder is None or not recorder.on:
            return super().update_from_output(scheduler_output, *args, **kwargs)
        start = monotonic_ns()
        result = super().update_from_output(scheduler_output, *args, **kwargs)
        recorder.updated(scheduler_output, result, start)
        return result

    def add_request(self, request, *args, **kwargs):
        recorder = self._tokenstair
        if recorder is not None and recorder.on:
            recorder.queued(request)
        return super().add_request(request, *args, **kwargs)

    def finish_requests(self, request_ids, finished_status, *args, **kwargs):
        recorder = self._tokenstair
        if recorder is None or not recorder.on:
            return super().finish_requests(request_ids, finished_status, *args, **kwargs)
        if request_ids is not None and not isinstance(request_ids, str):
            # It may be one that can be gone through once only.
            request_ids = list(request_ids)
        rows = recorder.ending(request_ids)
        result = super().finish_requests(request_ids, finished_status, *args, **kwargs)
        recorder.ended(rows, finished_status)
        return result

    def _preempt_request(self, request, *args, **kwargs):
        recorder = self._tokenstair
        if recorder is not None and recorder.on:
            recorder.preempting(request)
        return super()._preempt_request(request, *args, **kwargs)

    def shutdown(self, *args, **kwargs):
        recorder = self._tokenstair
        if recorder is not None:
            recorder.close()
        return super().shutdown(*args, **kwargs)
