"""What happens to a process of the engine: garbage collections, stalls of the interpreter and of the event loop."""
import gc
import os
import platform
import threading
from collections import deque
from time import monotonic_ns, process_time_ns, sleep, time_ns

from tokenstair_probe import __version__, records
from tokenstair_probe.outbox import Outbox, endpoint

TICK_SECONDS = 0.02
STALL_NANOS = 30_000_000
COLLECTION_NANOS = 1_000_000
HELLO_NANOS = 2_000_000_000
TOTALS_NANOS = 1_000_000_000
MAX_PENDING = 4096


class ProcessWatch:
    """One per process. Other threads hand records over with a push on a bounded queue; a thread of its own sends them."""

    _current: "ProcessWatch | None" = None
    _guard = threading.Lock()

    def __init__(self, address: str, role: str, rank: int | None) -> None:
        self.pid = os.getpid()
        self.role = role
        self.rank = rank
        self.totals: dict[str, list] = {}
        self._address = address
        self._pending: deque = deque()
        self._dropped = 0
        self._collecting = 0
        gc.callbacks.append(self._collected)
        thread = threading.Thread(target=self._run, name="tokenstair-probe", daemon=True)
        thread.start()

    @classmethod
    def start(cls, role: str, rank: int | None) -> "ProcessWatch | None":
        """The watch of this process; made at the first call. A role told later counts from then on: the engine's over others."""
        address = endpoint()
        if address is None:
            return None
        with cls._guard:
            watch = cls._current
            # What a forked child inherits is its parent's: threads and sockets do not come along.
            if watch is None or watch.pid != os.getpid():
                if watch is not None and watch._collected in gc.callbacks:
                    gc.callbacks.remove(watch._collected)
                watch = cls._current = cls(address, role, rank)
            elif role == "engine":
                watch.role = role
                watch.rank = rank
            return watch

    @classmethod
    def running(cls) -> "ProcessWatch | None":
        watch = cls._current
        return watch if watch is not None and watch.pid == os.getpid() else None

    def hand_over(self, record) -> None:
        if len(self._pending) >= MAX_PENDING:
            self._dropped += 1
            return
        self._pending.append(record)

    def total(self, name: str) -> list:
        """A running total [nanos, calls] that is shipped once a second."""
        return self.totals.setdefault(name, [0, 0])

    def _collected(self, phase, info) -> None:
        if phase == "start":
            self._collecting = monotonic_ns()
        elif self._collecting:
            end = monotonic_ns()
            if end - self._collecting >= COLLECTION_NANOS:
                self.hand_over((records.PAUSED, "gc", self._collecting, end))
            self._collecting = 0

    def watch_loop(self, loop) -> None:
        """Reports when the event loop comes late to a call it was asked to make."""
        def tick(due: int) -> None:
            now = monotonic_ns()
            if now - due >= STALL_NANOS:
                self.hand_over((records.PAUSED, "event-loop", due, now))
            loop.call_later(TICK_SECONDS, tick, monotonic_ns() + int(TICK_SECONDS * 1e9))
        loop.call_later(TICK_SECONDS, tick, monotonic_ns() + int(TICK_SECONDS * 1e9))

    def _run(self) -> None:
        try:
            outbox = Outbox(self._address, self.role, self.rank, "process")
            with open("/proc/thread-self/schedstat", "rb", buffering=0) as own:
                self._loop(outbox, own)
        except Exception:
            import logging
            logging.getLogger("vllm.tokenstair_probe").exception(
                "The probe's watch of this process failed and has ended. The engine is not affected.")

    def _loop(self, outbox: Outbox, own) -> None:
        hello = totals = 0
        used, waited = process_time_ns(), _waited(own)
        while True:
            due = monotonic_ns() + int(TICK_SECONDS * 1e9)
            sleep(TICK_SECONDS)
            now = monotonic_ns()
            used_now, waited_now = process_time_ns(), _waited(own)
            if now - due >= STALL_NANOS:
                cause = stall_cause(now - due, used_now - used, waited_now - waited)
                if cause is not None:
                    outbox.put((records.PAUSED, cause, due, now), now)
            used, waited = used_now, waited_now
            outbox.role, outbox.rank = self.role, self.rank
            if now - hello >= HELLO_NANOS:
                hello = now
                outbox.put((records.PROCESS, now, self._describe()), now)
            if now - totals >= TOTALS_NANOS:
                totals = now
                for name, (nanos, calls) in list(self.totals.items()):
                    if calls:
                        outbox.put((records.TOTAL, now, name, nanos, calls), now)
            pending = self._pending
            while pending:
                outbox.put(pending.popleft(), now)
            if outbox.is_due(now):
                outbox.flush()

    def _describe(self) -> dict:
        return {"pid": self.pid, "parent": os.getppid(), "bootId": _text("/proc/sys/kernel/random/boot_id"),
                "pidNamespace": _link("/proc/self/ns/pid"), "netNamespace": _link("/proc/self/ns/net"),
                "host": platform.node(), "python": platform.python_version(), "probe": __version__,
                "startedWallNanos": _STARTED, "dropped": self._dropped}


_STARTED = time_ns()


def stall_cause(late: int, used: int, waited: int) -> str | None:
    """Why the watch came late: something held the interpreter ("gil"), or nothing of the process ran ("stop").

    None where the watch had no core for most of the time: that is told by the run-queue waits, and is no pause of the process.
    """
    if 2 * waited >= late:
        return None
    return "gil" if 2 * used >= late else "stop"


def _waited(own) -> int:
    own.seek(0)
    return int(own.read(64).split()[1])


def _text(path: str) -> str | None:
    try:
        with open(path) as file:
            return file.read().strip()
    except OSError:
        return None


def _link(path: str) -> str | None:
    try:
        return os.readlink(path)
    except OSError:
        return None
