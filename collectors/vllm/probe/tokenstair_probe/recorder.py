"""What a scheduler did, as records. Knows no vLLM: it reads what it is given, and says nothing of what is not there."""
import logging
import sys
from collections import deque
from operator import attrgetter
from time import monotonic_ns

from tokenstair_probe import records
from tokenstair_probe.blocks import BlockLife
from tokenstair_probe.outbox import FLUSH_NANOS
from tokenstair_probe.records import STEP

logger = logging.getLogger("vllm.tokenstair_probe")

ANNOUNCE_NANOS = 2_000_000_000
MAX_ANNOUNCED = 4096
MAX_OPEN_STEPS = 64
MAX_KEPT = 512
MAX_ERRORS = 5

_ids = attrgetter("request_id")
_tokens = attrgetter("new_token_ids")
_reasons = attrgetter("finish_reason")
_open = attrgetter("request_id", "num_prompt_tokens", "max_tokens", "priority", "num_preemptions", "arrival_time")


class StepRecorder:
    """Records of one scheduler. Whatever fails in here is counted, and switches it off when it goes on failing."""

    def __init__(self, scheduler, outbox, limits: dict) -> None:
        self.scheduler = scheduler
        self.outbox = outbox
        self.on = True
        self.errors = 0
        self._limits = limits
        self._step = 0
        self._in_flight: dict[int, tuple] = {}
        self._preempted = False
        self._announced = 0
        self._kv_sequence = 0
        self._kv_batch: int | None = None
        self._waiting = [(queue, deque.__len__ if isinstance(queue, deque) else len)
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
        self._kept_since = monotonic_ns()
        self._kept = self._announcement(self._kept_since)
        self._announced = self._kept_since

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
            self._kv_batch = self._kv_sequence
            self._kv_sequence += 1
            return publish(batch)

        publisher.publish = counted

    # ---- the step

    def scheduled(self, output, start: int) -> None:
        end = monotonic_ns()
        try:
            scheduler = self.scheduler
            waiting = 0
            for queue, length in self._waiting:
                waiting += length(queue)
            running = len(scheduler.running)
            queue = self._queue
            reason = self._wait_reason(output, running) if waiting else 0
            self._preempted = False
            fresh = output.scheduled_new_reqs
            if fresh:
                requests = scheduler.requests
                fresh = [self._fresh(row, requests) for row in fresh]
            step = self._step
            self._step = step + 1
            in_flight = self._in_flight
            if len(in_flight) >= MAX_OPEN_STEPS:
                in_flight.clear()
            in_flight[id(output)] = (
                step, start, end, running, waiting, None if queue is None else queue.num_free_blocks, reason, fresh,
                monotonic_ns() - end)
        except Exception:
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
        try:
            opened = self._in_flight.pop(id(output), None)
            if opened is None:
                return
            kept = self._kept
            if not kept:
                self._kept_since = end
            requests = self.scheduler.requests
            kept.append((
                opened, start, end, output, result, self._kv_batch, bool(self.scheduler.finished_req_ids), monotonic_ns() - end))
            self._kv_batch = None
            if end - self._kept_since >= FLUSH_NANOS or not requests or len(kept) >= MAX_KEPT:
                self.ship(end)
        except Exception:
            self.failed("update_from_output")

    def ship(self, now: int) -> None:
        """Encodes and sends what was kept. Done for many steps at once: the code is then in the core's caches for all but the first."""
        kept = self._kept
        self._kept = []
        outbox = self.outbox
        put = outbox.put
        for row in kept:
            if type(row[0]) is int:
                put(row, now)
                continue
            try:
                put(self._step_record(*row), now)
            except Exception:
                put((records.UNENCODABLE,), now)
                self.failed("a step's record")
            if outbox.is_full():
                outbox.flush()
        if now - self._announced >= ANNOUNCE_NANOS:
            self._announced = now
            for record in self._announcement(now):
                put(record, now)
        outbox.flush()

    @staticmethod
    def _step_record(opened, start, end, output, result, kv_batch, finished, own) -> tuple:
        step, schedule_start, schedule_end, running, waiting, free, reason, fresh, own_before = opened
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
        if finished:
            finishes = [(i, str(r)) for i, r in enumerate(map(_reasons, outs)) if r is not None]
        resumed = cached.resumed_req_ids
        return (
            STEP, step, schedule_start, schedule_end, start, end, running, waiting, free, reason,
            scheduled, cached.req_ids if fresh else None, cached.num_computed_tokens, cached.num_output_tokens,
            list(resumed) if resumed else None, fresh or None, emitting, tokens, finishes or None, kv_batch, None, None,
            own + own_before)

    def keep(self, record: tuple, now: int) -> None:
        """Takes a record in its place among the steps."""
        if not self._kept:
            self._kept_since = now
        self._kept.append(record)

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
                getattr(request, "priority", None)), now)
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
                self.keep((records.ENDED, now, rows, getattr(status, "name", str(status))), now)
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
                self._queue.num_free_blocks if self._queue is not None else None), now)
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
                idle), now)
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
