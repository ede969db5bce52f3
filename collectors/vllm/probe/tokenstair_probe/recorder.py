"""What a scheduler did, as records. Knows no vLLM: it reads what it is given, and says nothing of what is not there."""
import logging
import sys
from array import array
from collections import deque
from itertools import chain, groupby, islice
from operator import attrgetter
from struct import pack
from time import monotonic_ns, sleep
from types import SimpleNamespace

from tokenstair_probe import kvbatches, records
from tokenstair_probe.blocks import BlockLife
from tokenstair_probe.records import STEP
from tokenstair_probe.usual import SHIP_ROWS, UsualSteps, UsualWay

logger = logging.getLogger("vllm.tokenstair_probe")

ANNOUNCE_NANOS = 2_000_000_000
MAX_ANNOUNCED = 4096
MAX_OPEN_STEPS = 64
# Rows that wait to be sent, one for each record. They are sent every two seconds, or when there are SHIP_ROWS.
MAX_KEPT = 1024
# After so many whole steps whoever needs the interpreter gets it.
STEPS_AT_ONCE = 32
# Steps further apart than this are slow, unless they compute prompts: a stall may have been between them.
SLOW_NANOS = 130_000_000
MAX_ERRORS = 5
# So many of those that the scheduler passed over are looked past for the one at which it stopped.
MAX_PASSED_OVER = 32

# Kinds of rows of which records are made later.
_STEP = -1
_KV_EVENTS = -3

# A step that is like an earlier one is the numbers of records.SAME_STEPS; some of their places.
NUMBERS = 12
ROW_BYTES = 8 * NUMBERS
_START, _LIKE, _END = 1, 8, 10

_ids = attrgetter("request_id")
_tokens = attrgetter("new_token_ids")
_reasons = attrgetter("finish_reason")
_open = attrgetter("request_id", "num_prompt_tokens", "max_tokens", "priority", "num_preemptions", "arrival_time")


class StepRecorder(UsualSteps):
    """Records of one scheduler. Whatever fails in here is counted, and switches it off when it goes on failing.

    A step begins and ends with cold caches, and whatever is done then pays for each page and line of memory it touches, those of code too.
    So the scheduler's thread only takes what will not be there later, keeps what the engine made for the step and changes no more, and appends
    both to a queue. Another thread makes records of many steps at once, and sends them (`ship`). That thread too pays for what it touches, and a step
    whose sequences are those of an earlier one, each a token further, is told by its stamps alone: numbers, with nothing of the engine's.
    Most steps are such, and go through the two methods of `UsualWay` and none of these.

    Rows that are kept, beside those of `UsualSteps`: in a list of one (_STEP, output, result, begun, start, end, n), where n is the batch of
    KV events that the step published or -1, (_KV_EVENTS, n, stamp, batch) before it, or a record as it is, told by its kind.

    Steps in flight: the last two at most in `_first` and `_second`, if all that are in flight are like an earlier one; else all in
    `_open_steps`, as (output, fresh, alike, (step, start, end, running, waiting, free, reason, own, like)), which is what "begun" is.
    """

    __slots__ = ("_like", "_open_steps", "_unlike", "scheduler", "_waiting", "_announce_at", "_dropped", "_preempted", "_several",
                 "_ended", "slow_nanos", "errors", "outbox", "_limits", "_kv_sequence", "_carries_kv", "_seats", "_budget", "_blocks",
                 "on_close", "on_full", "_last_step", "_lost_step")

    def __init__(self, scheduler, outbox, limits: dict) -> None:
        super().__init__()
        self.scheduler = scheduler
        self.outbox = outbox
        self.on = True
        self.errors = 0
        self.on_close = None
        self.on_full = None
        self._limits = limits
        # When a step last came long after the one before it.
        self.slow_nanos = 0
        # When the last step ended; -1 where there may have been nothing to do since.
        self._ended = -1
        # Whether a step may make several tokens of a sequence: it tells them itself then.
        model = getattr(getattr(scheduler, "vllm_config", None), "model_config", None)
        self._several = bool(getattr(scheduler, "num_spec_tokens", 0) or getattr(model, "is_diffusion", False))
        # The last step that later ones may be like, and how many sequences it has; the same step, or -1 where one that begins now may not be
        # like it; the last step that none may be like.
        # (_base, _alike; _like; _unlike). _rows is as many sequences where the next step may go the usual way, -1 where it may not.
        self._like = -1
        self._unlike = -1
        # Of whole steps: the last one sent, and the last one that was lost.
        self._last_step = -1
        self._lost_step = -1
        self._open_steps: deque = deque(maxlen=MAX_OPEN_STEPS)
        self._dropped = 0
        # The last step that had to preempt.
        self._preempted = -1
        self._kv_sequence = 0
        self._carries_kv = False
        # The length of a deque without a detour through methods that a subclass wrote in Python.
        self._waiting = [deque.__len__.__get__(queue) if isinstance(queue, deque) else queue.__len__
                         for name in ("waiting", "skipped_waiting", "kv_holding_waiting")
                         if (queue := getattr(scheduler, name, None)) is not None]
        self._seats = getattr(scheduler, "max_num_active_reqs", None) or getattr(scheduler, "max_num_running_reqs", None)
        self._budget = getattr(scheduler, "max_num_scheduled_tokens", None)
        pool = getattr(getattr(scheduler, "kv_cache_manager", None), "block_pool", None)
        self._queue = getattr(pool, "free_block_queue", None)
        if not isinstance(getattr(self._queue, "num_free_blocks", None), int):
            self._queue = SimpleNamespace(num_free_blocks=-1)
        self._blocks = BlockLife(pool, self._evicted) if pool is not None else None
        self._watch_publisher(getattr(scheduler, "kv_event_publisher", None))
        now = monotonic_ns()
        self._announce_at = now + ANNOUNCE_NANOS
        for record in self._announcement(now):
            self._put([record])

    def failed(self, what: str) -> None:
        self.errors += 1
        if self.errors >= MAX_ERRORS and self.on:
            self.on = False
            logger.exception(
                "The probe failed %d times, last in %s: it records no more. The engine is not affected.",
                self.errors, what)

    def _watch_publisher(self, publisher) -> None:
        publish = getattr(publisher, "publish", None)
        if publish is None:
            return
        # One that publishes nothing is still given every batch: those are carried to the collector with the steps. What another one
        # publishes the collector hears from it, and not a second time from here.
        self._carries_kv = type(publisher).__name__ == "NullEventPublisher"

        def counted(batch):
            # The publisher numbers its batches from 0 in the order it is given them.
            if self.on:
                self._kv_batch = self._kv_sequence
            self._kv_sequence += 1
            return publish(batch)

        def carried(batch):
            if self.on:
                self._kv_batch = self._kv_sequence
                self._keep_row([(_KV_EVENTS, self._kv_sequence, monotonic_ns(), batch)], put=self._put_aside)
            self._kv_sequence += 1
            return publish(batch)

        publisher.publish = carried if self._carries_kv else counted

    # ---- the step

    def scheduled(self, output, start: int, end: int) -> None:
        """The beginning of a step that does not go the usual way."""
        try:
            self._leave_usual_way()
            scheduler = self.scheduler
            running = len(scheduler.running)
            waiting = reason = 0
            fresh = None
            if len(scheduler.requests) != running:
                for length in self._waiting:
                    waiting += length()
                if waiting:
                    reason = self._wait_reason(output, running)
            if output.scheduled_new_reqs:
                requests = scheduler.requests
                fresh = [self._fresh(row, requests) for row in output.scheduled_new_reqs]
            step = self.step_count
            self.step_count = step + 1
            # Where as many tokens are scheduled as sequences run, none of them new, each of them is scheduled one, if at the end each gets
            # one. Where as many ran in the step before, and none has ended, they are the same, each a token further.
            alike = running
            like = self._like
            own = -1
            if fresh is not None or self._several or output.total_num_scheduled_tokens != running:
                like = self._like = alike = -1
                own = monotonic_ns() - end
            elif like < 0 or running != self._alike:
                like = -1
                self._like = self._base = step
                self._alike = running
                own = monotonic_ns() - end
            self._open_steps.append((
                output, fresh, alike, (step, start, end, running, waiting, self._queue.num_free_blocks, reason, own, like)))
        except Exception:
            self._like = -1
            self.keep((records.UNENCODABLE,))
            self.failed("schedule")

    def _leave_usual_way(self) -> None:
        """Those in flight are put where `updated` looks for them."""
        self._rows = -1
        if self._first is not None:
            steps = [(self._first, self._start, self._end, self._free)]
            if self._second is not None:
                steps.append((self._second, self._second_start, self._second_end, self._second_free))
            self._first = self._second = None
            for step, (output, start, end, free) in enumerate(steps, self._step):
                self._open_steps.append((output, None, self._alike, (step, start, end, self._alike, 0, free, 0, -1, self._base)))

    def _take_usual_way(self) -> None:
        """From here on steps go it, if all that are in flight are like an earlier one."""
        opened = self._open_steps
        like, alike = self._like, self._alike
        if like <= self._unlike or len(opened) > 2:
            return
        for _, _, _, numbers in opened:
            if numbers[8] != like or numbers[4] or numbers[6]:
                return
        if opened:
            self._first, _, _, (self._step, self._start, self._end, _, _, self._free, _, _, _) = opened.popleft()
        if opened:
            self._second, _, _, (_, self._second_start, self._second_end, _, _, self._second_free, _, _, _) = opened.popleft()
        self._rows = alike
        if self._like != like:
            # The other thread has shipped meanwhile.
            self._rows = -1

    @staticmethod
    def _fresh(row, requests) -> tuple:
        request = requests.get(row.req_id)
        return (row.req_id, row.num_computed_tokens, getattr(request, "num_output_tokens", 0),
                getattr(request, "num_preemptions", 0))

    def _wait_reason(self, output, running: int) -> int:
        if self._preempted == self.step_count:
            # No waiting sequence is looked at in a step that had to preempt.
            return records.WAIT_KV_BLOCKS
        if self._seats is not None and running >= self._seats:
            return records.WAIT_SEATS
        if self._budget is not None and output.total_num_scheduled_tokens >= self._budget:
            return records.WAIT_TOKEN_BUDGET
        try:
            return self._reason_of_waiting()
        except Exception:
            return records.WAIT_UNKNOWN

    def _reason_of_waiting(self) -> int:
        scheduler = self.scheduler
        passed = None
        if scheduler.waiting:
            deferred = getattr(scheduler, "deferred_waiting", ())
            head = scheduler.waiting.peek_request()
            if head not in deferred:
                return records.WAIT_BY_STATUS.get(head.status.name, records.WAIT_UNKNOWN)
            # Those that were passed over come back to the head of the queue: the scheduler stopped at the first that was not.
            for request in islice(scheduler.waiting, 1, MAX_PASSED_OVER):
                if request not in deferred:
                    return records.WAIT_BY_STATUS.get(request.status.name, records.WAIT_UNKNOWN)
            passed = head
        else:
            for name in ("kv_holding_waiting", "skipped_waiting"):
                queue = getattr(scheduler, name, None)
                if queue:
                    passed = queue.peek_request()
                    break
        if passed is None:
            return records.WAIT_UNKNOWN
        reason = records.WAIT_BY_STATUS.get(passed.status.name, records.WAIT_UNKNOWN)
        # One that was passed over does not wait for blocks: where its status does not say for what, it may be its adapter, or its connector.
        return records.WAIT_UNKNOWN if reason == records.WAIT_KV_BLOCKS else reason

    def updated(self, output, result, start: int, end: int) -> None:
        """The end of a step that does not go the usual way."""
        try:
            self._leave_usual_way()
            opened = self._open_steps
            begun = opened.popleft() if opened and opened[0][0] is output else self._begun(output)
            if begun is None:
                # Its beginning was before the probe was switched on.
                self._dropped += 1
                self._unlike = self.step_count
                return
            _, _, alike, numbers = begun
            for each in result.values():
                if len(each.outputs) == alike and not self.scheduler.finished_req_ids:
                    break
            else:
                # Those that were taken to be like this one are not; and what those in flight began with counts on what it did not give.
                self._unlike = max(self._unlike, self.step_count - 1)
            like = numbers[8]
            kv_batch, self._kv_batch = self._kv_batch, -1
            if like > self._unlike:
                self._keep_row((*numbers, start, end, kv_batch))
            else:
                self._whole(output, result, begun, start, end, kv_batch)
            self._take_usual_way()
        except Exception:
            self._unlike = self.step_count
            self.keep((records.UNENCODABLE,))
            self.failed("update_from_output")

    def _whole(self, output, result, begun: tuple, start: int, end: int, kv_batch: int) -> None:
        """A step that is told with all that is in it."""
        if begun[3][8] >= 0:
            self._like = -1
        self.keep((_STEP, output, result, begun, start, end, kv_batch))
        # Every message begins with a step that is told so.
        if end >= self._announce_at:
            self._announce_at = end + ANNOUNCE_NANOS
            for record in self._announcement(end):
                self.keep(record)

    def _begun(self, output) -> tuple | None:
        """Steps end in the order they began in; one whose end never came is passed over."""
        opened = self._open_steps
        if not any(each[0] is output for each in opened):
            return None
        while opened[0][0] is not output:
            self._unlike = opened.popleft()[3][0]
        return opened.popleft()

    def keep(self, row: tuple) -> None:
        """Takes a row in its place. Where it finds no room it is lost, and the next that does tells how many records that makes."""
        self._keep_row([row])

    def _keep_row(self, row, put=None) -> None:
        waiting = self._held
        if waiting >= MAX_KEPT:
            self._dropped += 1
            # The next step that is kept tells how many were not: it must be a whole one.
            self._leave_usual_way()
            self._unlike = self.step_count
            return
        if self._dropped:
            self._put(self._dropped)
            self._dropped = 0
        (put or self._put)(row)
        if waiting == SHIP_ROWS and self.on_full is not None:
            self.on_full()

    # ---- where records are made, many at once

    def ship(self) -> None:
        """Encodes and sends what was kept, in its order. For one thread, which need not be the scheduler's."""
        if not self._held:
            return
        # What comes after this message does not need it.
        self._rows = self._like = -1
        outbox = self.outbox
        steps = 0
        # Rows that went the usual way are told together. Batches of KV events, which come between them, go before them: as before, each is told
        # before the step that published it.
        same = []
        for kind, rows in groupby(self._take(), type):
            if kind is bytes:
                same.extend(rows)
                continue
            if kind is tuple:
                numbers = [*chain.from_iterable(rows)]
                try:
                    same.append(pack(f">{len(numbers)}q", *numbers))
                except Exception:
                    before, same = same, []
                    self._tell_same(before)
                    self._lose(len(numbers) // NUMBERS)
                    self.failed("a step's record")
                continue
            for row in rows:
                try:
                    batch = kind is list and row[0][0] == _KV_EVENTS
                    if not batch:
                        before, same = same, []
                        self._tell_same(before)
                    if kind is int:
                        self._lose(row)
                        continue
                    [row] = row
                    if batch:
                        _, number, stamp, events = row
                        outbox.put((records.KV_EVENTS, stamp, number, outbox.encode(kvbatches.of_batch(events, outbox.rank))))
                    elif (what := row[0]) == _STEP:
                        steps += 1
                        if steps % STEPS_AT_ONCE == 0:
                            sleep(0)
                        self._put_step(row)
                    else:
                        if what == records.ENDED:
                            self._ended = -1
                        outbox.put(row)
                except Exception:
                    outbox.put((records.UNENCODABLE,))
                    self.failed("a step's record")
                if outbox.is_full():
                    self._flush()
        self._tell_same(same)
        self._flush()

    def _tell_same(self, parts: list) -> None:
        if not parts:
            return
        rows = b"".join(parts)
        lost = self._lost_step
        if _number(rows, _LIKE) <= lost:
            # Like a step that was lost: nobody could read them. What a step is like is never before what the step before it is like.
            known = b"".join(row for i in range(0, len(rows), ROW_BYTES) if _number(row := rows[i:i + ROW_BYTES], _LIKE) > lost)
            self._lose((len(rows) - len(known)) // ROW_BYTES)
            if not known:
                return
            rows = known
        try:
            self._put_same(rows)
        except Exception:
            self.outbox.lose(len(rows) // ROW_BYTES)
            self.failed("a step's record")
        if self.outbox.is_full():
            self._flush()

    def _flush(self) -> None:
        outbox = self.outbox
        lost = outbox.lost
        outbox.flush()
        if outbox.lost != lost:
            self._lost_step = self._last_step

    def _lose(self, count: int) -> None:
        self._flush()
        self.outbox.lose(count)

    def _put_same(self, rows: bytes) -> None:
        begun = _number(rows, _START) if self._ended < 0 else self._ended
        self._ended = end = _number(rows, _END - NUMBERS)
        if end - begun >= SLOW_NANOS:
            # Of them all that is nothing; of two of them it is.
            numbers = array("q", rows)
            if sys.byteorder == "little":
                numbers.byteswap()
            ends = numbers[_END::NUMBERS]
            self.slow_nanos = max((end for end, before in zip(ends, [begun, *ends]) if end - before >= SLOW_NANOS), default=self.slow_nanos)
        self.outbox.put((records.SAME_STEPS, rows), len(rows) // ROW_BYTES)

    def _put_step(self, row: tuple) -> None:
        _, output, result, (_, fresh, _, numbers), start, end, kv_batch = row
        step, schedule_start, schedule_end, running, waiting, free, reason, own, _ = numbers
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
        self._last_step = step
        # One with prompts takes as long as they do, which is no stall.
        if (end - (schedule_start if self._ended < 0 else self._ended) >= SLOW_NANOS
                and (self._several or output.total_num_scheduled_tokens == len(scheduled))):
            self.slow_nanos = end
        self._ended = -1 if finishes else end
        self.outbox.put((
            STEP, step, schedule_start, schedule_end, start, end, running, waiting, None if free < 0 else free, reason, scheduled,
            cached.req_ids if fresh else None, cached.num_computed_tokens, cached.num_output_tokens,
            list(resumed) if resumed else None, fresh, emitting, tokens, finishes,
            None if kv_batch < 0 else kv_batch, None, None, max(0, own)))

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
                self._rows = self._like = -1
                self.keep((records.ENDED, now, rows, getattr(status, "name", str(status))))
        except Exception:
            self.failed("finish_requests")

    def preempting(self, request) -> None:
        try:
            now = monotonic_ns()
            self._preempted = self.step_count
            self._rows = self._like = -1
            frame = _caller("schedule")
            wanting = frame.f_locals.get("request") if frame is not None else None
            self.keep((
                records.PREEMPTED, now, self.step_count, request.request_id,
                records.PREEMPT_KV_BLOCKS if frame is not None else records.PREEMPT_OUTSIDE,
                getattr(wanting, "request_id", None), request.num_computed_tokens, request.num_output_tokens,
                getattr(request, "priority", None), getattr(request, "num_preemptions", 0) + 1,
                None if (free := self._queue.num_free_blocks) < 0 else free))
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
                records.EVICTED, now, self.step_count, reason, getattr(request, "request_id", None), asked, hashes, reused,
                idle, self._carries_kv))
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


def _number(rows: bytes, place: int) -> int:
    """One of the numbers of SAME_STEPS; from the last one backwards where it is negative."""
    place = 8 * place % len(rows)
    return int.from_bytes(rows[place:place + 8], "big", signed=True)


class Recording(UsualWay):
    """Put before a scheduler class: every override calls its parent and only reads afterwards."""

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
