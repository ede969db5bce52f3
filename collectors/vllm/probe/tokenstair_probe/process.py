"""What happens to a process of the engine: garbage collections, stalls of the interpreter and of the event loop."""
import gc
import os
import platform
import sys
import threading
from collections import deque
from os import pread
from time import monotonic_ns, time_ns

from tokenstair_probe import __version__, records
from tokenstair_probe.outbox import Outbox, Wire, endpoint
from tokenstair_probe.usual import COMPILED, Bell

# How often it looks. A look wakes a thread, which takes as much of a core's time as what the thread then does, and twice that where it asks for the
# interpreter. So it looks seldom while steps are made one after the other, and often only for a while after it has seen a stall. Where it is
# compiled it asks only if no step has begun or ended for QUIET_NANOS, as in a stall.
LOOK_MILLIS = 250
TICK_NANOS = 100_000_000
WATCHFUL_TICK_NANOS = 20_000_000
WATCHFUL_NANOS = 10_000_000_000
# Records are sent together: each message wakes two threads here and some more at the collector.
SHIP_MILLIS = 2_000
LOOP_TICK_SECONDS = 0.02
CLOSE_SECONDS = 0.5
STALL_NANOS = 30_000_000
QUIET_NANOS = STALL_NANOS
# A look that is this late may have waited for a core or the interpreter: how long it did is read anew, so that it does not count for the next one.
WAITED_NANOS = 1_000_000
# A look is given a core when its time has come, and once more where it then had to wait for the interpreter.
TURNS_PER_LOOK = 1
TURNS_TO_GO_ON = 1
COLLECTION_NANOS = 1_000_000
HELLO_NANOS = 2_000_000_000
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
        self._bell = Bell()
        # Counts up while the process does what it is there for.
        self.signs = 0
        self._look_nanos = _millis("TOKENSTAIR_PROBE_LOOK_MILLIS", LOOK_MILLIS) * 1_000_000
        self._ship_nanos = _millis("TOKENSTAIR_PROBE_SHIP_MILLIS", SHIP_MILLIS) * 1_000_000
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
        """A running total [nanos, calls] that is shipped with every hello."""
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
        """Sends what this recorder keeps, every two seconds, when it has much, when it falls silent and at its end."""
        recorder.on_close = self.finish
        recorder.on_full = self._bell.ring
        self._recorders = (*self._recorders, recorder)

    def finish(self) -> None:
        """Sends what there is and ends; waits for it no longer than CLOSE_SECONDS."""
        self._closing = True
        self._bell.ring()
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
        hello = shipped = signs = 0
        watchful_until = 0
        flowing = False
        before, expected = pread(own, 64, 0), 0
        now = monotonic_ns()
        while True:
            recorder = None
            if now < watchful_until:
                rest = every = WATCHFUL_TICK_NANOS
            elif not flowing:
                rest = every = TICK_NANOS
            elif COMPILED and self._recorders:
                recorder = self._recorders[0]
                rest, every = shipped + self._ship_nanos - now, self._look_nanos
            else:
                rest = every = self._look_nanos
            woken, due, looks = self._bell.rest(rest, every, QUIET_NANOS, recorder)
            now = monotonic_ns()
            late = now - due
            expected += looks * TURNS_PER_LOOK + TURNS_TO_GO_ON
            if late >= STALL_NANOS:
                without_core, turns = (b - a for a, b in zip(_waits(before), _waits(pread(own, 64, 0))))
                cause = stall_cause(late, turns - expected, without_core)
                if cause is not None and late - without_core >= STALL_NANOS:
                    outbox.put((records.PAUSED, cause, due, now))
                    watchful_until = now + WATCHFUL_NANOS
            seen, signs = signs, self.signs
            slow_nanos = 0
            if self._recorders:
                for recorder in self._recorders:
                    signs += recorder.step_count
                    slow_nanos = max(slow_nanos, recorder.slow_nanos)
            else:
                # A worker's signs are the calls that are timed in it.
                for total in list(self.totals.values()):
                    signs += total[1]
            # Steps that are slow, and those that follow slow ones for a while, are looked at as often as when there are none.
            flowing = signs != seen and now - slow_nanos >= WATCHFUL_NANOS
            closing = self._closing
            # When nothing was done since the last look, what is kept goes out now.
            if woken or closing or now - shipped >= (TICK_NANOS if signs == seen else self._ship_nanos):
                shipped = now
                outbox.role, outbox.rank = self.role, self.rank
                for recorder in self._recorders:
                    recorder.ship()
                if closing or now - hello >= HELLO_NANOS:
                    hello = now
                    outbox.put((records.PROCESS, now, self._describe()))
                    for name, (nanos, calls) in list(self.totals.items()):
                        if calls:
                            outbox.put((records.TOTAL, now, name, nanos, calls))
                pending = self._pending
                while pending:
                    outbox.put(pending.popleft())
                outbox.flush()
            if closing:
                return
            # Read seldom, as it is dearer than all else that a look does.
            if shipped == now or late >= WAITED_NANOS:
                before, expected = pread(own, 64, 0), 0

    def _describe(self) -> dict:
        return {**self._constants, "parent": os.getppid(), "dropped": self._dropped}


def _millis(name: str, usual: int) -> int:
    """A span of the environment, from 100 to 5000 ms."""
    try:
        return max(100, min(5_000, int(os.environ.get(name, usual))))
    except ValueError:
        return usual


def _constants() -> dict:
    return {"pid": os.getpid(), "bootId": _text("/proc/sys/kernel/random/boot_id"), "pidNamespace": _link("/proc/self/ns/pid"),
            "netNamespace": _link("/proc/self/ns/net"), "host": platform.node(), "python": platform.python_version(),
            "probe": __version__, "startedWallNanos": _STARTED}


_STARTED = time_ns()


def stall_cause(late: int, turns: int, waited: int) -> str | None:
    """Why the watch came late: something held the interpreter ("gil"), or nothing of the process ran ("stop").

    A thread that waits for the interpreter gets a core each time that its patience with the holder ends, to ask for it; one of a process that is
    stopped gets none. None where the watch waited for a core for most of the time: that is told by the run-queue waits, and is no pause of the process.
    """
    if 2 * waited >= late:
        return None
    return "gil" if 2 * turns * _PATIENCE_NANOS >= late else "stop"


_PATIENCE_NANOS = int(sys.getswitchinterval() * 1e9)


def _waits(schedstat: bytes) -> tuple[int, int]:
    """How long the thread has waited for a core, and how often it was given one."""
    _, waited, turns = schedstat.split()
    return int(waited), int(turns)


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
