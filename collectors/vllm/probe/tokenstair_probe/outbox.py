"""Records to a collector: encoded where they are made, sent together, never waited for, and counted where they are lost."""
import os
import uuid
from time import monotonic_ns, time_ns

import msgspec
import zmq

from tokenstair_probe import records

# What is sent at once: enough that the cost of sending is shared by many steps, little enough that it is not missed.
FLUSH_BYTES = 64 * 1024
# Messages held while the collector does not take them: at FLUSH_BYTES each this bounds the memory to 16 MiB.
PENDING_MESSAGES = 256
LINGER_MILLIS = 200
# A collector that is not there is looked for ever more seldom, as looking costs time of a core too.
RECONNECT_MILLIS = 100
RECONNECT_MAX_MILLIS = 2_000
SEND_MORE = zmq.NOBLOCK | zmq.SNDMORE


def _machine() -> str:
    """The machine whose clocks this process reads: the kernel's boot id. A time namespace has a monotonic clock of its own."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            machine = file.read().strip()
    except OSError:
        return str(uuid.uuid4())
    try:
        with open("/proc/self/timens_offsets") as file:
            for line in file:
                words = line.split()
                if words[0] == "monotonic" and words[1:] != ["0", "0"]:
                    return f"{machine}-{uuid.uuid4()}"
    except OSError:
        pass
    return machine


MACHINE = _machine()


def endpoint() -> str | None:
    return os.environ.get("TOKENSTAIR_PROBE") or None


def _pending() -> int:
    """Messages to hold: TOKENSTAIR_PROBE_PENDING, from 1 to 4096."""
    try:
        return max(1, min(4096, int(os.environ.get("TOKENSTAIR_PROBE_PENDING", PENDING_MESSAGES))))
    except ValueError:
        return PENDING_MESSAGES


class Wire:
    """The way to the collector. Several outboxes of one thread may share it."""

    def __init__(self, address: str, pending: int | None = None) -> None:
        self._context = zmq.Context(io_threads=1)
        self._socket = self._context.socket(zmq.PUSH)
        self._socket.setsockopt(zmq.SNDHWM, pending or _pending())
        self._socket.setsockopt(zmq.LINGER, LINGER_MILLIS)
        self._socket.setsockopt(zmq.RECONNECT_IVL, RECONNECT_MILLIS)
        self._socket.setsockopt(zmq.RECONNECT_IVL_MAX, RECONNECT_MAX_MILLIS)
        self._socket.connect(address)
        # The C function beneath the socket class's own, which looks at every frame first.
        self.send = super(zmq.Socket, self._socket).send

    def close(self) -> None:
        """Ends it; what is on its way has LINGER_MILLIS to go out."""
        self._socket.close()
        self._context.term()


class Outbox:
    """One source of records. To be used by one thread."""

    def __init__(self, wire: Wire, role: str, rank: int | None, name: str) -> None:
        self.role = role
        self.rank = rank
        self.engine = os.environ.get("TOKENSTAIR_ENGINE_ID") or None
        self.source = f"{name}-{os.getpid()}-{time_ns():x}"
        self.lost = 0
        self._first = 0
        self._next = 0
        self._buffer = bytearray()
        encoder = msgspec.msgpack.Encoder()
        self.encode = encoder.encode
        self._encode_into = encoder.encode_into
        self._send = wire.send

    def put(self, record, count: int = 1) -> None:
        """Takes a record, or several that are encoded as one. What cannot be encoded keeps its number and loses its content."""
        buffer = self._buffer
        length = len(buffer)
        try:
            self._encode_into(record, buffer, -1)
        except Exception:
            del buffer[length:]
            for _ in range(count):
                self._encode_into((records.UNENCODABLE,), buffer, -1)
        self._next += count

    def lose(self, count: int) -> None:
        """Counts records that were lost before they came here; they keep their numbers."""
        self.flush()
        self.lost += count
        self._next += count
        self._first = self._next

    def is_full(self) -> bool:
        return len(self._buffer) >= FLUSH_BYTES

    def flush(self) -> None:
        """Sends what was put. Where the collector does not keep up it is lost, and counted."""
        count = self._next - self._first
        if count == 0:
            return
        before = monotonic_ns()
        wall = time_ns()
        after = monotonic_ns()
        envelope = self.encode((
            records.MAGIC, records.WIRE_VERSION, self.source, self.role, self.rank, self.engine,
            self._first, count, self.lost, before, wall, after, MACHINE))
        try:
            self._send(envelope, SEND_MORE)
            self._send(self._buffer, zmq.NOBLOCK)
        except zmq.ZMQError:
            # A queue that is full refuses the first frame: a second one always belongs to a first.
            self.lost += count
        self._first = self._next
        # A new one: where the old one grew large once, its memory is given back.
        self._buffer = bytearray()
