"""The usual way of a step: all that run are given a token, as in the step before. Nearly all steps go it, and what it costs is what the probe costs.

A step begins and ends with cold caches, and whatever is done then pays for each page and line of memory it touches, those of code too. So there are two
of it that do the same: this one, and `_usual.c`, which is built where there is a C compiler and touches less than half of it. Whatever is not usual, and whatever
fails in here, goes to `StepRecorder.scheduled` and `updated`, which are one for both.

    UsualSteps   what StepRecorder keeps of it
    UsualWay     put before a scheduler class: every override calls its parent and only reads afterwards
    Bell         what the thread that sends rests at
"""
import os
import threading
from collections import deque
from time import monotonic_ns

# Records that wait, at which they are to be sent: from there on steps go the other way, which says so.
SHIP_ROWS = 512


class UsualSteps:
    """Steps in flight, at most two, and the rows of those that have ended.

    A row is a list of one, with a record; a number of records that found no room; or, of steps that went the usual way, a tuple of the numbers of
    records.SAME_STEPS for each or the bytes that go over the wire for several.
    """

    # Fields that every step reads lie together.
    __slots__ = ("on", "_rows", "step_count", "_queue", "_first", "_step", "_start", "_end", "_free", "_second", "_second_start", "_second_end",
                 "_second_free", "_base", "_alike", "_kv_batch", "_kept", "_keep")

    def __init__(self) -> None:
        self.on = False
        self.step_count = 0
        self._queue = self._first = self._second = None
        self._step = self._start = self._end = self._free = 0
        self._second_start = self._second_end = self._second_free = 0
        self._rows = self._base = self._alike = -1
        # The batch of KV events that the next step to end has published; -1 where there is none.
        self._kv_batch = -1
        # Not a list: one that grows is moved.
        self._kept: deque = deque()
        self._keep = self._kept.append

    @property
    def _held(self) -> int:
        """How many rows are kept."""
        return len(self._kept)

    def _put(self, row) -> None:
        """Keeps a row behind those that are kept."""
        self._keep(row)

    def _put_aside(self, row) -> None:
        """Keeps a row that is to go before the step that ends next, and may go before some that have ended."""
        self._keep(row)

    def _take(self) -> list:
        """All rows that are kept, in their order; none is kept from here on. For another thread than the scheduler's."""
        take = self._kept.popleft
        return [take() for _ in range(len(self._kept))]


class UsualWay:
    # The recorder, or None.
    _tokenstair = None

    def schedule(self, *args, **kwargs):
        recorder = self._tokenstair
        if recorder is None or not recorder.on:
            return super().schedule(*args, **kwargs)
        start = monotonic_ns()
        output = super().schedule(*args, **kwargs)
        end = monotonic_ns()
        # As each call and each branch more costs, all is done here. What fails here fails in the other method too, and is counted there.
        try:
            running = len(self.running)
            if (running == recorder._rows and output.total_num_scheduled_tokens == running and not output.scheduled_new_reqs
                    and len(self.requests) == running):
                free = recorder._queue.num_free_blocks
                if recorder._first is None:
                    recorder._step = step = recorder.step_count
                    recorder._start = start
                    recorder._end = end
                    recorder._free = free
                    recorder._first = output
                    recorder.step_count = step + 1
                    return output
                if recorder._second is None:
                    recorder._second_start = start
                    recorder._second_end = end
                    recorder._second_free = free
                    recorder._second = output
                    recorder.step_count += 1
                    return output
        except Exception:
            pass
        recorder.scheduled(output, start, end)
        return output

    def update_from_output(self, scheduler_output, *args, **kwargs):
        recorder = self._tokenstair
        if recorder is None or not recorder.on:
            return super().update_from_output(scheduler_output, *args, **kwargs)
        start = monotonic_ns()
        result = super().update_from_output(scheduler_output, *args, **kwargs)
        end = monotonic_ns()
        try:
            if recorder._first is scheduler_output and not self.finished_req_ids:
                alike = len(result[0].outputs)
                if alike == recorder._alike and len(recorder._kept) < SHIP_ROWS:
                    step = recorder._step
                    kv_batch = recorder._kv_batch
                    if kv_batch >= 0:
                        recorder._kv_batch = -1
                    recorder._keep((
                        step, recorder._start, recorder._end, alike, 0, recorder._free, 0, -1, recorder._base, start, end, kv_batch))
                    second = recorder._first = recorder._second
                    if second is not None:
                        recorder._second = None
                        recorder._step = step + 1
                        recorder._start = recorder._second_start
                        recorder._end = recorder._second_end
                        recorder._free = recorder._second_free
                    return result
        except Exception:
            pass
        recorder.updated(scheduler_output, result, start, end)
        return result


class Bell:
    """Lets one thread rest until its time has come or another rings."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()

    def ring(self) -> None:
        """Ends the rest, or the next one."""
        try:
            self._lock.release()
        except RuntimeError:
            # It has been rung already.
            pass

    def rest(self, nanos: int, every: int, quiet: int, recorder) -> tuple[bool, int, int]:
        """Rests so many nanoseconds: whether it was rung, when the rest was to end, and how often it was given a core in it.

        Where compiled, and with a recorder: it looks every so many of them whether a step of it began or ended in the last `quiet` ones, without
        asking for the interpreter, and ends where none did. Else it rests no longer than until the first of these looks.
        """
        nanos = max(0, min(nanos, every))
        due = monotonic_ns() + nanos
        return self._lock.acquire(True, nanos / 1e9), due, 1


COMPILED = False
if os.environ.get("TOKENSTAIR_PROBE_COMPILED") != "0":
    try:
        from tokenstair_probe._usual import Bell, UsualSteps, UsualWay  # noqa: F811
        COMPILED = True
    except ImportError:
        pass
