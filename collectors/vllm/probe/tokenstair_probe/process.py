"""What happens to a process of the engine: garbage collections, stalls of the interpreter and of the event loop."""
import gc
import os
import platform
import threading
from collections import deque
from os import pread
from time import monotonic_ns, process_time_ns, sleep, time_ns

from tokenstair_probe import __version__, records
from tokenstair_probe.outbox import FLUSH_NANOS, Outbox, Wire, endpoint

# How often it looks. Each look wakes a thread, which takes more of a core's time than all that the thread then does; so it looks often
# only for a while after it has seen a stall.
TICK_SECONDS = 0.1
WATCHFUL_TICK_SECONDS = 0.02
WATCHFUL_NANOS = 10_000_000_000
LOOP_TICK_SECONDS = 0.02
CLOSE_SECONDS = 0.5
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
        self._pending: deque = deque()
        self._dropped = 0
        self._constants = _constants()
        self._collecting = 0
        gc.callbacks.append(self._collected)
        self._recorders: tuple = ()
        self._closing = False
        # All that this process sends goes over it.
        self.wire = Wire(address)
        self._thread = threading.Thread(target=self._run, name="tokenstair-probe", daemon=True)
        self._thread.start()

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
            loop.call_later(LOOP_TICK_SECONDS, tick, monotonic_ns() + int(LOOP_TICK_SECONDS * 1e9))
        loop.call_later(LOOP_TICK_SECONDS, tick, monotonic_ns() + int(LOOP_TICK_SECONDS * 1e9))

    def carry(self, recorder) -> None:
        """Sends what this recorder keeps, several times a second and at its end."""
        recorder.on_close = self.finish
        self._recorders = (*self._recorders, recorder)

    def finish(self) -> None:
        """Sends what there is and ends; waits for it no longer than CLOSE_SECONDS."""
        self._closing = True
        self._thread.join(CLOSE_SECONDS)

    def _run(self) -> None:
        try:
            outbox = Outbox(self.wire, self.role, self.rank, "process")
            own = os.open("/proc/thread-self/schedstat", os.O_RDONLY)
            try:
                self._loop(outbox, own)
            finally:
                os.close(own)
            self.wire.close()
        except Exception:
            import logging
            logging.getLogger("vllm.tokenstair_probe").exception(
                "The probe's watch of this process failed and has ended. The engine is not affected.")

    def _loop(self, outbox: Outbox, own: int) -> None:
        hello = totals = shipped = 0
        used, waited = process_time_ns(), pread(own, 64, 0)
        now, watchful_until = monotonic_ns(), 0
        while True:
            rest = WATCHFUL_TICK_SECONDS if now < watchful_until else TICK_SECONDS
            due = monotonic_ns() + int(rest * 1e9)
            sleep(rest)
            now = monotonic_ns()
            used_now = process_time_ns()
            if now - due >= STALL_NANOS:
                # Since it was last read, which is at most one look more: a wait that is told too long leaves the cause open.
                cause = stall_cause(now - due, used_now - used, _waited(pread(own, 64, 0)) - _waited(waited))
                if cause is not None:
                    outbox.put((records.PAUSED, cause, due, now))
                    watchful_until = now + WATCHFUL_NANOS
            used = used_now
            if rest < TICK_SECONDS:
                waited = pread(own, 64, 0)
            closing = self._closing
            if now - shipped < FLUSH_NANOS and not closing:
                continue
            shipped = now
            waited = pread(own, 64, 0)
            outbox.role, outbox.rank = self.role, self.rank
            for recorder in self._recorders:
                recorder.ship()
            if now - hello >= HELLO_NANOS:
                hello = now
                outbox.put((records.PROCESS, now, self._describe()))
            if now - totals >= TOTALS_NANOS:
                totals = now
                for name, (nanos, calls) in list(self.totals.items()):
                    if calls:
                        outbox.put((records.TOTAL, now, name, nanos, calls))
            pending = self._pending
            while pending:
                outbox.put(pending.popleft())
            outbox.flush()
            if closing:
                return

    def _describe(self) -> dict:
        return {**self._constants, "parent": os.getppid(), "dropped": self._dropped}


def _constants() -> dict:
    return {"pid": os.getpid(), "bootId": _text("/proc/sys/kernel/random/boot_id"), "pidNamespace": _link("/proc/self/ns/pid"),
            "netNamespace": _link("/proc/self/ns/net"), "host": platform.node(), "python": platform.python_version(),
            "probe": __version__, "startedWallNanos": _STARTED}


_STARTED = time_ns()


def stall_cause(late: int, used: int, waited: int) -> str | None:
    """Why the watch came late: something held the interpreter ("gil"), or nothing of the process ran ("stop").

    None where the watch had no core for most of the time: that is told by the run-queue waits, and is no pause of the process.
    """
    if 2 * waited >= late:
        return None
    return "gil" if 2 * used >= late else "stop"


def _waited(schedstat: bytes) -> int:
    return int(schedstat.split()[1])


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
