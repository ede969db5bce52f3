"""A scheduler that the load generator switches: the probe and the KV events are on while it runs rounds named P, off for A and B.

    PYTHONPATH=bench/overhead ... --scheduler-cls overhead_toggle.ToggleScheduler

A request's id says its round: P-3-0 is stream 0 of round 3. What the probe costs in this process is summed by round: CPU time of the
scheduler's thread inside the probe, and of the threads that ZeroMQ keeps for it. OVERHEAD_COSTS names the file it goes to.
"""
import json
import os
import threading
from time import thread_time_ns

from tokenstair_probe.scheduler import ProbeScheduler


def thread_ids() -> set[str]:
    return set(os.listdir("/proc/self/task"))


class ToggleScheduler(ProbeScheduler):
    def __init__(self, *args, **kwargs) -> None:
        before = thread_ids()
        super().__init__(*args, **kwargs)
        python = {str(thread.native_id) for thread in threading.enumerate()}
        self._sender_threads = [
            tid for tid in thread_ids() - before - python if _name(tid).startswith("ZMQbg")]
        self._recorder = self._tokenstair
        self._out = open(os.environ["OVERHEAD_COSTS"], "a", buffering=1)
        self._round = None
        self._inside = self._steps = self._rows = 0
        self._sent = self._senders()
        # Whatever a step calls in the probe, with all that it leads to.
        for name in ("scheduled", "updated"):
            setattr(self._recorder, name, self._timed(getattr(self._recorder, name)))
        self._set(False)

    def _timed(self, inner):
        def timed(*args):
            start = thread_time_ns()
            inner(*args)
            self._inside += thread_time_ns() - start
        return timed

    def _senders(self) -> int:
        total = 0
        for tid in self._sender_threads:
            with open(f"/proc/self/task/{tid}/schedstat") as file:
                total += int(file.read().split()[0])
        return total

    def _set(self, on: bool) -> None:
        self._tokenstair = self._recorder if on else None
        self._recorder.on = on
        self.kv_cache_manager.block_pool.enable_kv_cache_events = on

    def add_request(self, request) -> None:
        # cmpl-P-3-0-0-1a2b3c4d
        words = request.request_id.split("-")
        name = "-".join(words[1:3]) if len(words) > 3 else None
        if name != self._round:
            self._flush()
            self._round = name
            self._set(name is not None and name.startswith("P"))
        super().add_request(request)

    def update_from_output(self, scheduler_output, model_runner_output):
        result = super().update_from_output(scheduler_output, model_runner_output)
        self._steps += 1
        self._rows += len(scheduler_output.num_scheduled_tokens)
        if not self.requests:
            self._flush()
        return result

    def _flush(self) -> None:
        if self._round is not None and self._steps:
            sent = self._senders()
            self._out.write(json.dumps({
                "round": self._round, "steps": self._steps, "rows": self._rows, "insideNanos": self._inside,
                "senderNanos": sent - self._sent}) + "\n")
            self._sent = sent
        self._inside = self._steps = self._rows = 0


def _name(tid: str) -> str:
    try:
        with open(f"/proc/self/task/{tid}/comm") as file:
            return file.read().strip()
    except OSError:
        return ""
