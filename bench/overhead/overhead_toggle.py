"""A scheduler that the load generator switches: the probe and the KV events are on while it runs rounds named P, off for A and B.

    PYTHONPATH=bench/overhead ... --scheduler-cls overhead_toggle.ToggleScheduler

A request's id says its round: P-3-0 is stream 0 of round 3. Core time of the engine's process is summed by round: of the scheduler's thread
in `schedule` and `update_from_output`, that of vLLM's own methods ("inner") apart from what is put around them ("outer"), and of the threads
that probe and KV events keep. What the clock itself takes is in the rounds without as well. OVERHEAD_COSTS names the file it goes to.
"""
import json
import os
import threading
from time import thread_time_ns

from vllm.v1.core.sched.scheduler import Scheduler

from tokenstair_probe import process
from tokenstair_probe.process import ProcessWatch, stall_cause
from tokenstair_probe.recorder import Recording
from tokenstair_probe.scheduler import attach
from tokenstair_probe.usual import COMPILED

WRAPPED = ("get_new_blocks", "_maybe_evict_cached_block", "touch", "free_blocks", "reset_prefix_cache", "evict_blocks")


class _Inner(Scheduler):
    _inner = 0

    def schedule(self, *args, **kwargs):
        start = thread_time_ns()
        result = super().schedule(*args, **kwargs)
        self._inner += thread_time_ns() - start
        return result

    def update_from_output(self, *args, **kwargs):
        start = thread_time_ns()
        result = super().update_from_output(*args, **kwargs)
        self._inner += thread_time_ns() - start
        return result


class _Gate:
    """What the probe's thread waits at between two looks. While the probe is off it stays there."""

    def __init__(self, watch) -> None:
        self.on = threading.Event()
        self._bell = watch._bell
        self._opened = False
        self.ring = watch._bell.ring
        process.stall_cause = self._cause

    def rest(self, *args) -> tuple:
        found = self._bell.rest(*args)
        if not self.on.is_set():
            self.on.wait()
            self._opened = True
        return found

    def _cause(self, *args):
        """The time that it was kept here is no stall."""
        if self._opened:
            self._opened = False
            return None
        return stall_cause(*args)


class ToggleScheduler(Recording, _Inner):
    def __init__(self, *args, **kwargs) -> None:
        self._round = None
        self._steps = self._rows = self._outer = 0
        before = _threads()
        super().__init__(*args, **kwargs)
        self._recorder = attach(self)
        watch = ProcessWatch.running()
        self._gate = watch._bell = _Gate(watch)
        # Not of the engine itself, as all of these came with its scheduler: KV events, the probe, and ZeroMQ's for both.
        python = {str(thread.native_id): thread.name for thread in threading.enumerate()}
        self._kinds = {tid: python.get(tid, "zmq") for tid in _threads() - before}
        self._out = open(os.environ["OVERHEAD_COSTS"], "a", buffering=1)
        pool = self.kv_cache_manager.block_pool
        self._pool_methods = {name: vars(pool)[name] for name in WRAPPED if name in vars(pool)}
        self._publish = vars(self.kv_event_publisher).get("publish")
        self._set(False)
        self._start = self._cores()

    def _cores(self) -> dict:
        total = dict.fromkeys(self._kinds.values(), 0)
        for tid, kind in self._kinds.items():
            with open(f"/proc/self/task/{tid}/schedstat") as file:
                total[kind] += int(file.read().split()[0])
        return total

    def _set(self, on: bool) -> None:
        """Off is as if the probe had never been there."""
        pool = self.kv_cache_manager.block_pool
        for name in WRAPPED:
            vars(pool).pop(name, None)
        vars(self.kv_event_publisher).pop("publish", None)
        if on:
            vars(pool).update(self._pool_methods)
            if self._publish is not None:
                self.kv_event_publisher.publish = self._publish
        self._tokenstair = self._recorder if on else None
        self._recorder.on = on
        if on:
            # The rounds without lie between two steps: those were not slow.
            self._recorder._ended = -1
            self._gate.on.set()
        else:
            self._gate.on.clear()
        pool.enable_kv_cache_events = on

    def schedule(self, *args, **kwargs):
        start = thread_time_ns()
        # Where the probe is off not even its override is gone through. Not by super(), which looks through the classes at each call: an engine
        # finds the probe's methods as fast as its own.
        result = _Inner.schedule(self, *args, **kwargs) if self._tokenstair is None else Recording.schedule(self, *args, **kwargs)
        self._outer += thread_time_ns() - start
        return result

    def add_request(self, request, *args, **kwargs) -> None:
        # cmpl-P-3-0-0-1a2b3c4d
        words = request.request_id.split("-")
        name = "-".join(words[1:3]) if len(words) > 3 else None
        if name != self._round:
            self._flush()
            self._round = name
            self._set(name is not None and name.startswith("P"))
        super().add_request(request, *args, **kwargs)

    def update_from_output(self, scheduler_output, *args, **kwargs):
        start = thread_time_ns()
        if self._tokenstair is None:
            result = _Inner.update_from_output(self, scheduler_output, *args, **kwargs)
        else:
            result = Recording.update_from_output(self, scheduler_output, *args, **kwargs)
        self._outer += thread_time_ns() - start
        self._steps += 1
        self._rows += len(scheduler_output.num_scheduled_tokens)
        return result

    def _flush(self) -> None:
        now = self._cores()
        if self._round is not None and self._steps:
            self._out.write(json.dumps({
                "round": self._round, "steps": self._steps, "rows": self._rows, "innerNanos": self._inner, "outerNanos": self._outer,
                "threadNanos": {kind: now[kind] - self._start[kind] for kind in now}, "made": self._recorder.outbox._next, "compiled": COMPILED,
                "lost": self._recorder.outbox.lost}) + "\n")
        self._start = now
        self._steps = self._rows = self._inner = self._outer = 0


def _threads() -> set[str]:
    return set(os.listdir("/proc/self/task"))
