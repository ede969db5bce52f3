"""The probe without vLLM, compiled or not (run-tests.sh): stand-ins have the attributes, and nothing but the attributes, that recorded schedulers have."""
import contextlib
import ctypes
import gc
import logging
import os
import random
import signal
import struct
import subprocess
import sys
import threading
import time
import unittest
import weakref
from types import SimpleNamespace

import msgspec
import zmq

# One that is built, in a folder of its own; without it the sources, which are not.
PACKAGE = os.environ.get("TOKENSTAIR_PROBE_PACKAGE") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.insert(0, PACKAGE)

from tokenstair_probe import records, usual  # noqa: E402
from tokenstair_probe.blocks import BlockLife, short_hash  # noqa: E402
from tokenstair_probe.limits import limits_of  # noqa: E402
from tokenstair_probe.outbox import Outbox, Wire  # noqa: E402
from tokenstair_probe.process import ProcessWatch, stall_cause  # noqa: E402
from tokenstair_probe.recorder import MAX_KEPT, Recording, StepRecorder  # noqa: E402
from tokenstair_probe.version import verdict  # noqa: E402


class Request(SimpleNamespace):
    def __init__(self, request_id, prompt=64, outputs=0, **more):
        super().__init__(
            request_id=request_id, num_prompt_tokens=prompt, max_tokens=100, priority=0, num_preemptions=0,
            arrival_time=1790000000.25, num_output_tokens=outputs, num_computed_tokens=prompt + outputs, **more)

    def is_finished(self):
        return False


class Output(msgspec.Struct):
    request_id: str
    new_token_ids: list
    finish_reason: object = None


class Pool:
    """A block pool of three blocks, all cached; what is taken is evicted."""

    def __init__(self):
        self.num_gpu_blocks = 4
        self.free_block_queue = SimpleNamespace(num_free_blocks=3)
        self.blocks = [SimpleNamespace(block_id=i, block_hash=bytes(range(i, i + 32)) + b"\0\0\0\0") for i in range(1, 4)]

    def get_new_blocks(self, count):
        taken = self.blocks[:count]
        for block in taken:
            self._maybe_evict_cached_block(block)
        return taken

    def _maybe_evict_cached_block(self, block):
        if block.block_hash is None:
            return False
        block.block_hash = None
        return True

    def touch(self, blocks):
        pass

    def free_blocks(self, ordered_blocks):
        for _ in ordered_blocks:
            pass

    def evict_blocks(self, block_ids):
        for block in self.blocks:
            if block.block_id in block_ids:
                self._maybe_evict_cached_block(block)

    def reset_prefix_cache(self):
        return True


class Waiting(str):
    """A request that waits, as far as it is looked at."""

    status = SimpleNamespace(name="WAITING")


class Queue(list):
    def peek_request(self):
        return self[0]


class Scheduler:
    """vLLM's own part: gives out what the test puts in."""

    def __init__(self, *ids):
        self.requests = {name: Request(name, outputs=5) for name in ids}
        self.running = list(self.requests)
        self.waiting = Queue()
        self.finished_req_ids = set()
        self.max_num_running_reqs = 8
        self.max_num_scheduled_tokens = 512
        self.kv_cache_manager = SimpleNamespace(block_pool=Pool())
        self.kv_event_publisher = None
        self.step_output = None
        self.result = {}

    def schedule(self):
        return self.step_output

    def update_from_output(self, scheduler_output, model_runner_output):
        return self.result

    def add_request(self, request):
        self.requests[request.request_id] = request

    def finish_requests(self, request_ids, finished_status):
        return []

    def shutdown(self):
        pass

    def _preempt_request(self, request, timestamp):
        request.num_computed_tokens = 0


class Probed(Recording, Scheduler):
    pass


class Collected:
    """A collector's socket, and what came."""

    def __init__(self, high_water_mark=1000):
        self.context = zmq.Context()
        self.socket = self.context.socket(zmq.PULL)
        self.socket.setsockopt(zmq.RCVHWM, high_water_mark)
        port = self.socket.bind_to_random_port("tcp://127.0.0.1")
        self.address = f"tcp://127.0.0.1:{port}"

    def messages(self, wait_millis=500):
        while self.socket.poll(wait_millis):
            envelope, body = self.socket.recv_multipart()
            yield msgspec.msgpack.decode(envelope), decode_all(body)

    def close(self):
        self.socket.close(0)
        self.context.term()


def count_of(body):
    return sum(len(record[1]) // 96 if record[0] == records.SAME_STEPS else 1 for record in body)


def decode_all(body):
    """All values of a frame, one after the other: msgspec reads one only, so the array's header is put before them."""
    for count in range(1, 100_000):
        try:
            return msgspec.msgpack.decode(b"\xdd" + count.to_bytes(4, "big") + body)
        except msgspec.DecodeError:
            continue
    raise AssertionError("no whole number of records")


class StepOutput(SimpleNamespace):
    """One that can be watched going."""


def step_output(scheduled, cached, computed, outputs, new=(), resumed=()):
    return StepOutput(
        num_scheduled_tokens=scheduled, total_num_scheduled_tokens=sum(scheduled.values()), scheduled_new_reqs=list(new),
        scheduled_cached_reqs=SimpleNamespace(
            req_ids=cached, resumed_req_ids=set(resumed), num_computed_tokens=computed, num_output_tokens=outputs))


class ProbeTest(unittest.TestCase):
    def setUp(self):
        self.collected = Collected()
        self.wires = []

    def tearDown(self):
        for wire in self.wires:
            wire._socket.close(0)
            wire._context.term()
        self.collected.close()

    def outbox(self, pending=None, address=None):
        wire = Wire(address or self.collected.address, pending)
        self.wires.append(wire)
        return Outbox(wire, "engine", 0, "steps")

    def probed(self, *ids):
        scheduler = Probed(*ids)
        scheduler._tokenstair = StepRecorder(scheduler, self.outbox(), {"engineVersion": "0.32.0"})
        return scheduler

    def watch(self):
        """Begins to watch this process for the collector of the test."""
        os.environ["TOKENSTAIR_PROBE"] = self.collected.address
        try:
            return ProcessWatch.start("engine", 0)
        finally:
            del os.environ["TOKENSTAIR_PROBE"]

    def run_step(self, scheduler, output, result):
        scheduler.step_output, scheduler.result = output, result
        self.assertIs(scheduler.schedule(), output)
        self.assertIs(scheduler.update_from_output(output, None), result)

    def records_of(self, scheduler, kind):
        scheduler._tokenstair.ship()
        found = []
        for envelope, body in self.collected.messages():
            self.assertEqual(envelope[0], records.MAGIC)
            self.assertEqual(envelope[7], count_of(body))
            found += [record for record in body if record[0] == kind]
        return found

    def steps_of(self, messages):
        """Whole steps, and those that are like one: [step, scheduled, computed before, outputs before, by a whole record, (running, waiting, free)]."""
        whole, found = {}, []
        for envelope, body in messages:
            for record in body:
                if record[0] == records.STEP:
                    whole[record[1]] = record
                    found.append([record[1], record[10], record[12], record[13], True, tuple(record[6:9])])
                elif record[0] == records.SAME_STEPS:
                    for row in struct.iter_unpack(">12q", record[1]):
                        base = whole[row[8]]
                        more = row[0] - row[8]
                        self.assertGreater(more, 0)
                        found.append([row[0], base[10], [c + more for c in base[12]], [o + more for o in base[13]], False, row[3:6]])
        return found

    def test_a_step_of_decodes_ships_the_engines_own_columns(self):
        scheduler = self.probed("a", "b")
        self.run_step(
            scheduler, step_output({"a": 1, "b": 1}, ["a", "b"], [68, 70], [5, 7]),
            {0: SimpleNamespace(outputs=[Output("a", [1]), Output("b", [2])])})
        [step] = self.records_of(scheduler, records.STEP)
        self.assertEqual(step[1], 0)
        self.assertEqual(sorted(step[2:6]), step[2:6])
        self.assertEqual(step[6:10], [2, 0, 3, 0])
        self.assertEqual(step[10], {"a": 1, "b": 1})
        self.assertEqual(step[11:22], [None, [68, 70], [5, 7], None, None, None, None, None, None, None, None])
        self.assertGreater(step[22], 0)

    def test_no_token_id_leaves_the_engine(self):
        scheduler = self.probed("a")
        secret = 987654321
        self.run_step(
            scheduler, step_output({"a": 2}, ["a"], [68], [5]),
            {0: SimpleNamespace(outputs=[Output("a", [secret, secret])])})
        scheduler._tokenstair.ship()
        for envelope, body in self.collected.messages():
            self.assertNotIn(str(secret), str(envelope) + str(body))

    def test_several_tokens_a_chunk_without_one_and_an_end_are_told(self):
        scheduler = self.probed("a", "b", "c")
        scheduler.finished_req_ids = {"b"}
        self.run_step(
            scheduler, step_output({"a": 3, "b": 1, "c": 500}, ["a", "b", "c"], [68, 70, 0], [5, 7, 0]),
            {0: SimpleNamespace(outputs=[Output("a", [1, 2, 3])]), 1: SimpleNamespace(outputs=[Output("b", [4], "length")])})
        [step] = self.records_of(scheduler, records.STEP)
        self.assertEqual(step[16], ["a", "b"])
        self.assertEqual(step[17], [3, 1])
        self.assertEqual(step[18], [[1, "length"]])

    def test_steps_like_an_earlier_one_are_told_by_their_stamps(self):
        scheduler = self.probed("a", "b")

        def made(*ids):
            return {0: SimpleNamespace(outputs=[Output(name, [1]) for name in ids])}

        def step(k, scheduled=None, **more):
            scheduled = scheduled or {"a": 1, "b": 1}
            ids = list(scheduled)
            self.run_step(scheduler, step_output(scheduled, ids, [68 + k, 70 + k][:len(ids)], [5 + k, 7 + k][:len(ids)]), made(*ids), **more)

        for k in range(4):
            step(k)
        step(4, {"a": 1, "b": 9})  # a chunk of a prompt
        step(5)
        scheduler.finished_req_ids = {"b"}
        step(6)  # one ends
        scheduler.finished_req_ids = set()
        scheduler.running = ["a"]
        step(7, {"a": 1})
        step(8, {"a": 1})
        scheduler._preempt_request(scheduler.requests["a"], 1.0)
        step(9, {"a": 1})  # it was preempted and came back
        step(10, {"a": 1})
        scheduler.finish_requests(["b"], SimpleNamespace(name="FINISHED_ABORTED"))
        step(11, {"a": 1})
        scheduler._tokenstair.ship()
        step(12, {"a": 1})  # the first of a message
        step(13, {"a": 1})
        scheduler._tokenstair.ship()
        messages = list(self.collected.messages())
        found = self.steps_of(messages)
        self.assertEqual([row[0] for row in found], list(range(14)))
        whole = [row[0] for row in found if row[4]]
        self.assertEqual(whole, [0, 4, 5, 6, 7, 9, 11, 12])
        self.assertEqual([row[2] for row in found], [[68 + k, 70 + k][:1 if k > 6 else 2] for k in range(14)])
        self.assertEqual([row[3] for row in found], [[5 + k, 7 + k][:1 if k > 6 else 2] for k in range(14)])
        for envelope, body in messages:
            self.assertEqual(envelope[7], count_of(body))

    def test_with_two_steps_in_flight_a_step_is_like_one_that_gave_each_sequence_a_token(self):
        scheduler = self.probed("a", "b")
        outputs = [step_output({"a": 1, "b": 1}, ["a", "b"], [68 + k, 70 + k], [5 + k, 7 + k]) for k in range(8)]

        def schedule(k):
            scheduler.step_output = outputs[k]
            scheduler.schedule()

        def update(k, *ids):
            scheduler.result = {0: SimpleNamespace(outputs=[Output(name, [1]) for name in ids])}
            scheduler.update_from_output(outputs[k], None)

        schedule(0)
        for k in range(1, 8):
            schedule(k)
            # Step 4 gives one of them none: 5 was scheduled as if it were like those before it.
            update(k - 1, *("a",) if k - 1 == 4 else ("a", "b"))
        scheduler._tokenstair.ship()
        found = self.steps_of(self.collected.messages())
        self.assertEqual([row[0] for row in found], list(range(7)))
        self.assertEqual([row[0] for row in found if row[4]], [0, 4, 5, 6])

    def test_whatever_happens_each_step_is_told_as_it_was(self):
        for seed in range(60):
            with self.subTest(seed=seed):
                self.told_as_it_was(random.Random(seed), in_flight=1 + seed % 3)

    def told_as_it_was(self, draw, in_flight):
        """An engine in which sequences come, end, are preempted, wait, get no token or several, and messages go at any time."""
        scheduler = self.probed()
        recorder = scheduler._tokenstair
        frames = []
        recorder.outbox._send = lambda frame, flags: frames.append(frame)
        progress, truth, flight, made = {}, [], [], 0

        def schedule():
            new = []
            for name in list(scheduler.waiting):
                if draw.random() < 0.5:
                    scheduler.waiting.remove(name)
                    new.append(str(name))
            if scheduler.running and draw.random() < 0.03:
                victim = draw.choice(scheduler.running)
                scheduler._preempt_request(scheduler.requests[victim], 1.0)
                scheduler.running.remove(victim)
                scheduler.waiting.append(Waiting(victim))
                new = [name for name in new if name != victim]
            scheduler.running = [*scheduler.running, *new]
            scheduled = {name: 1 for name in scheduler.running if draw.random() > 0.01}
            for name in new:
                scheduled[name] = draw.choice((1, 1, 7))
            if scheduled and draw.random() < 0.02:
                scheduled[next(iter(scheduled))] = 3
            fresh = [name for name in new if name not in progress]
            for name in fresh:
                progress[name] = [0, 0]
            old = [name for name in scheduled if name not in fresh]
            output = step_output(
                scheduled, old, [progress[name][0] for name in old], [progress[name][1] for name in old],
                [SimpleNamespace(req_id=name, num_computed_tokens=0) for name in fresh])
            scheduler.kv_cache_manager.block_pool.free_block_queue.num_free_blocks = draw.randrange(100)
            truth.append((dict(scheduled), [progress[name][0] for name in old], [progress[name][1] for name in old], len(scheduler.running),
                          len(scheduler.waiting), scheduler.kv_cache_manager.block_pool.free_block_queue.num_free_blocks))
            scheduler.step_output = output
            scheduler.finished_req_ids = set()
            self.assertIs(scheduler.schedule(), output)
            for name, count in scheduled.items():
                # As vLLM counts them where steps overlap: what is expected of a step that is in flight is there.
                progress[name][0] += count
                progress[name][1] += 1
            flight.append(output)

        def update():
            output = flight.pop(0)
            outputs = []
            for name in output.num_scheduled_tokens:
                if name not in scheduler.requests or draw.random() < 0.01:
                    progress[name][1] -= 1
                else:
                    end = draw.random() < 0.02
                    outputs.append(Output(name, [1], "length" if end else None))
                    if end:
                        forget(name)
            scheduler.result = {0: SimpleNamespace(outputs=outputs)} if outputs else {}
            scheduler.update_from_output(output, None)

        def forget(name):
            scheduler.finished_req_ids = {*scheduler.finished_req_ids, name}
            del scheduler.requests[name]
            for queue in (scheduler.running, scheduler.waiting):
                if name in queue:
                    queue.remove(name)

        for _ in range(250):
            if len(scheduler.requests) < 3 or draw.random() < 0.03:
                made += 1
                request = Request(f"r{made}", outputs=0)
                scheduler.add_request(request)
                scheduler.waiting.append(Waiting(request.request_id))
            if scheduler.requests and draw.random() < 0.01:
                name = draw.choice(list(scheduler.requests))
                scheduler.finish_requests([name], SimpleNamespace(name="FINISHED_ABORTED"))
                forget(name)
            schedule()
            if draw.random() < 0.03:
                recorder.ship()
            while len(flight) >= in_flight:
                update()
            if draw.random() < 0.05:
                recorder.ship()
        while flight:
            update()
        recorder.ship()
        messages = [(msgspec.msgpack.decode(envelope), decode_all(body)) for envelope, body in zip(frames[::2], frames[1::2])]
        told = self.steps_of(messages)
        self.assertEqual(recorder.errors, 0)
        self.assertEqual([row[0] for row in told], list(range(250)))
        for (scheduled, computed, outputs, running, waiting, free), row in zip(truth, told):
            self.assertEqual([scheduled, computed, outputs], row[1:4])
            self.assertEqual((running, waiting, free), row[5])
        self.assertTrue(any(not row[4] for row in told))
        self.assertEqual(recorder.errors, 0)
        for envelope, body in messages:
            self.assertEqual(envelope[7], count_of(body))

    def test_an_engine_that_guesses_tokens_tells_every_step_whole(self):
        scheduler = Probed("a")
        scheduler.num_spec_tokens = 2
        scheduler._tokenstair = StepRecorder(scheduler, self.outbox(), {})
        for k in range(3):
            self.run_step(
                scheduler, step_output({"a": 1}, ["a"], [68 + k], [5 + k]), {0: SimpleNamespace(outputs=[Output("a", [1])])})
        self.assertEqual(len(self.records_of(scheduler, records.STEP)), 3)

    def test_steps_like_one_that_was_lost_are_lost_with_it_and_counted(self):
        scheduler = self.probed("a")
        recorder = scheduler._tokenstair
        recorder._announce_at = 1 << 62
        one = {0: SimpleNamespace(outputs=[Output("a", [1])])}
        send = recorder.outbox._send

        def refuse(*args):
            raise zmq.ZMQError(zmq.EAGAIN)

        def steps(first, count):
            for k in range(first, first + count):
                self.run_step(scheduler, step_output({"a": 1}, ["a"], [68 + k], [5 + k]), one)

        recorder.ship()
        steps(0, 3)
        base = recorder._like
        recorder.outbox._send = refuse
        recorder.ship()
        recorder.outbox._send = send
        recorder._like = base  # as where the scheduler's thread was in the middle of a step
        steps(3, 2)
        recorder._rows = recorder._like = -1
        steps(5, 2)
        recorder.ship()
        messages = list(self.collected.messages())[1:]
        self.assertEqual([row[0] for row in self.steps_of(messages)], [5, 6])
        self.assertEqual(recorder.outbox.lost, 5)
        self.assertEqual(messages[-1][0][6] + messages[-1][0][7], 2 + 7)

    def test_steps_far_apart_are_slow_unless_there_was_nothing_to_do_or_a_prompt(self):
        clock = [1_000_000_000]
        scheduler = self.probed("a")
        recorder = scheduler._tokenstair

        def step(k, reason=None, tokens=1):
            clock[0] += 7_000_000
            output = step_output({"a": tokens}, ["a"], [68 + k], [5 + k])
            recorder.scheduled(output, clock[0], clock[0])
            recorder.updated(output, {0: SimpleNamespace(outputs=[Output("a", [1], reason)])}, clock[0], clock[0])

        step(0)
        step(1)
        recorder.ship()
        self.assertEqual(recorder.slow_nanos, 0)
        clock[0] += 140_000_000
        step(2)
        recorder.ship()
        self.assertGreater(recorder.slow_nanos, 0)
        recorder.slow_nanos = 0
        scheduler.finished_req_ids = {"a"}
        step(3, "length")
        recorder.ship()
        self.assertEqual(recorder.slow_nanos, 0)
        scheduler.finished_req_ids = set()
        clock[0] += 140_000_000
        step(4)
        step(5)
        recorder.ship()
        self.assertEqual(recorder.slow_nanos, 0)
        clock[0] += 140_000_000
        step(6, tokens=512)
        recorder.ship()
        self.assertEqual(recorder.slow_nanos, 0)

    def test_batches_of_kv_events_are_carried_where_nobody_publishes_them(self):
        class BlockStored(SimpleNamespace):
            pass

        class BlockRemoved(SimpleNamespace):
            pass

        class AllBlocksCleared(SimpleNamespace):
            pass

        class Publisher:
            def __init__(self):
                self.got = []

            def publish(self, batch):
                self.got.append(batch)

        class NullEventPublisher(Publisher):
            pass

        secret = 987654321
        batch = SimpleNamespace(ts=1790000000.5, data_parallel_rank=None, events=[
            BlockStored(block_hashes=[b"\x01" * 32, 7], parent_block_hash=None, token_ids=[secret] * 64, block_size=32, lora_id=None, medium="GPU"),
            BlockRemoved(block_hashes=[9]),  # as older engines have it: without a medium
            AllBlocksCleared()])

        class Publishing(Scheduler):
            def update_from_output(self, scheduler_output, model_runner_output):
                self.kv_event_publisher.publish(batch)
                return self.result

        class ProbedPublishing(Recording, Publishing):
            pass

        for publisher in (NullEventPublisher(), Publisher()):
            scheduler = ProbedPublishing("a")
            scheduler.kv_event_publisher = publisher
            scheduler._tokenstair = StepRecorder(scheduler, self.outbox(), {})
            for k in range(3):
                self.run_step(
                    scheduler, step_output({"a": 1}, ["a"], [68 + k], [5 + k]), {0: SimpleNamespace(outputs=[Output("a", [1])])})
            scheduler._tokenstair.ship()
            self.assertEqual(publisher.got, [batch] * 3)
            body = [record for _, rows in self.collected.messages() for record in rows]
            steps = [record for record in body if record[0] == records.STEP]
            self.assertEqual(steps[0][19], 0)
            same = b"".join(record[1] for record in body if record[0] == records.SAME_STEPS)
            self.assertEqual([row[11] for row in struct.iter_unpack(">12q", same)], [1, 2])
            carried = [record for record in body if record[0] == records.KV_EVENTS]
            if type(publisher) is Publisher:
                self.assertEqual(carried, [])
                continue
            self.assertEqual([record[2] for record in carried], [0, 1, 2])
            self.assertLess(body.index(carried[0]), body.index(steps[0]))
            self.assertNotIn(secret.to_bytes(4, "big"), carried[0][3])
            self.assertEqual(msgspec.msgpack.decode(carried[0][3]), [
                1790000000.5, [
                    ["BlockStored", [b"\x01" * 32, 7], None, [0] * 64, 32, None, "GPU"], ["BlockRemoved", [9], None],
                    ["AllBlocksCleared"]], 0])

    def test_a_look_that_comes_late_tells_of_a_stall_and_steps_one_after_the_other_are_looked_at_seldom(self):
        watch = self.watch()
        recorder = SimpleNamespace(step_count=0, slow_nanos=-(1 << 62), ship=lambda: shipped.append(time.monotonic()))
        shipped = []
        watch._recorders = (recorder,)
        end = time.monotonic() + 3
        while time.monotonic() < end:
            recorder.step_count += 1
            time.sleep(0.01)
        # Every two seconds, and when it began.
        self.assertLessEqual(len(shipped), 5)
        # A call that keeps the interpreter: nothing else of it runs meanwhile. Several times, as one that finds no core then tells of none.
        keep = ctypes.PyDLL(None).usleep
        started = time.monotonic_ns()
        for _ in range(4):
            keep(900_000)
            time.sleep(0.05)
        watch.finish()
        ProcessWatch._current = None
        paused = [record for _, body in self.collected.messages() for record in body if record[0] == records.PAUSED]
        self.assertTrue(any(record[2] >= started and record[3] - record[2] >= 600_000_000 for record in paused), paused)

    def test_a_stall_between_steps_that_go_on_is_seen(self):
        watch = self.watch()
        scheduler = Probed("a")
        recorder = scheduler._tokenstair = StepRecorder(scheduler, Outbox(watch.wire, "engine", 0, "steps"), {})
        watch.carry(recorder)
        keep = ctypes.PyDLL(None).usleep

        def steps(count):
            for _ in range(count):
                k = recorder.step_count
                self.run_step(
                    scheduler, step_output({"a": 1}, ["a"], [68 + k], [5 + k]), {0: SimpleNamespace(outputs=[Output("a", [1])])})
                time.sleep(0.005)

        steps(150)
        started = time.monotonic_ns()
        for _ in range(4):
            keep(900_000)
            steps(10)
        scheduler.shutdown()
        ProcessWatch._current = None
        messages = list(self.collected.messages())
        self.assertEqual([row[0] for row in self.steps_of(messages)], list(range(190)))
        paused = [record for _, body in messages for record in body if record[0] == records.PAUSED and record[1] == "gil"]
        self.assertTrue(any(record[2] >= started and record[3] - record[2] >= 500_000_000 for record in paused), paused)

    def test_what_a_scheduler_is_called_with_and_answers_is_passed_on(self):
        class Asking(Scheduler):
            def schedule(self, *args, **kwargs):
                self.asked = args, kwargs
                return self.step_output

            def update_from_output(self, *args, **kwargs):
                self.asked = args, kwargs
                return self.result

        class ProbedAsking(Recording, Asking):
            pass

        scheduler = ProbedAsking("a")
        for recorder in (None, StepRecorder(scheduler, self.outbox(), {})):
            scheduler._tokenstair = recorder
            for k in range(6):
                output = scheduler.step_output = step_output({"a": 1}, ["a"], [68 + k], [5 + k])
                for args, kwargs in (((), {}), ((True,), {}), ((), {"throttle": True}), (tuple(range(20)), {"x": 1, "y": 2})):
                    self.assertIs(scheduler.schedule(*args, **kwargs), output)
                    self.assertEqual(scheduler.asked, (args, kwargs))
                scheduler.result = {0: SimpleNamespace(outputs=[Output("a", [1])])}
                self.assertIs(scheduler.update_from_output(output, None, x=1), scheduler.result)
                self.assertEqual(scheduler.asked, ((output, None), {"x": 1}))
        self.assertEqual(recorder.errors, 0)

    def test_an_output_given_by_its_name_is_recorded(self):
        scheduler = self.probed("a")
        for k in range(3):
            output = scheduler.step_output = step_output({"a": 1}, ["a"], [68 + k], [5 + k])
            scheduler.result = {0: SimpleNamespace(outputs=[Output("a", [1])])}
            scheduler.schedule()
            scheduler.update_from_output(scheduler_output=output, model_runner_output=None)
        scheduler._tokenstair.ship()
        self.assertEqual([row[0] for row in self.steps_of(self.collected.messages())], [0, 1, 2])

    def test_a_usual_step_is_kept_without_anything_of_the_engines(self):
        scheduler = self.probed("a")
        told = []
        for k in range(100):
            output = step_output({"a": 1}, ["a"], [68 + k], [5 + k])
            told.append(weakref.ref(output))
            self.run_step(scheduler, output, {0: SimpleNamespace(outputs=[Output("a", [1])])})
        scheduler.step_output = output = None
        self.assertEqual([k for k, each in enumerate(told) if each() is not None], [0])
        scheduler._tokenstair.ship()
        self.assertIsNone(told[0]())

    def test_whatever_a_scheduler_has_in_place_of_what_is_read_the_engine_gets_its_answer(self):
        class Raising:
            def __len__(self):
                raise KeyError("not there")

        draw = random.Random(5)
        strange = (None, 7, -1, 1 << 70, "text", [], [1], {}, {0: None}, {1: 2}, object(), Raising(), 1.5)
        logging.getLogger("vllm.tokenstair_probe").setLevel(logging.CRITICAL)
        self.addCleanup(logging.getLogger("vllm.tokenstair_probe").setLevel, logging.NOTSET)
        for seed in range(300):
            scheduler = self.probed("a")
            recorder = scheduler._tokenstair
            recorder.outbox._send = lambda frame, flags: None
            for k in range(4):
                self.run_step(
                    scheduler, step_output({"a": 1}, ["a"], [68 + k], [5 + k]), {0: SimpleNamespace(outputs=[Output("a", [1])])})
            for k in range(4, 12):
                output = step_output({"a": 1}, ["a"], [68 + k], [5 + k])
                outputs = SimpleNamespace(outputs=[Output("a", [1])])
                result = {0: outputs}
                scheduler.running, scheduler.requests, scheduler.finished_req_ids = ["a"], {"a": Request("a")}, set()
                recorder._queue.num_free_blocks = 3
                where, name = draw.choice((
                    (scheduler, "running"), (scheduler, "requests"), (scheduler, "finished_req_ids"), (output, "scheduled_new_reqs"),
                    (output, "total_num_scheduled_tokens"), (outputs, "outputs"), (recorder._queue, "num_free_blocks"), (result, 0)))
                if where is result:
                    result = draw.choice(strange)
                elif draw.random() < 0.2:
                    vars(where).pop(name, None)
                else:
                    setattr(where, name, draw.choice(strange))
                self.run_step(scheduler, output, result)
                recorder.errors = 0
            recorder.ship()

    def test_new_and_resumed_sequences_are_told_apart(self):
        scheduler = self.probed("a", "b", "n")
        new = SimpleNamespace(req_id="n", num_computed_tokens=32)
        self.run_step(
            scheduler, step_output({"a": 1, "n": 32, "b": 40}, ["a", "b"], [68, 0], [5, 7], new=[new], resumed=["b"]), {})
        [step] = self.records_of(scheduler, records.STEP)
        self.assertEqual(step[11], ["a", "b"])
        self.assertEqual(step[14], ["b"])
        self.assertEqual(step[15], [["n", 32, 5, 0]])
        self.assertEqual(step[16], [])

    def test_why_the_first_waiting_sequence_was_not_scheduled(self):
        def reason(change):
            scheduler = self.probed("a")
            scheduler.requests["w"] = None
            scheduler.waiting.append(Request("w", status=SimpleNamespace(name="WAITING")))
            output = step_output({"a": 1}, ["a"], [68], [5])
            change(scheduler, output)
            scheduler.step_output = output
            scheduler.schedule()
            return scheduler._tokenstair._open_steps[-1][3][6]

        self.assertEqual(reason(lambda s, o: setattr(s, "running", list(range(8)))), records.WAIT_SEATS)
        self.assertEqual(
            reason(lambda s, o: setattr(o, "total_num_scheduled_tokens", 512)), records.WAIT_TOKEN_BUDGET)
        self.assertEqual(reason(lambda s, o: None), records.WAIT_KV_BLOCKS)
        self.assertEqual(
            reason(lambda s, o: setattr(s.waiting[0].status, "name", "WAITING_FOR_REMOTE_KVS")), records.WAIT_REMOTE_KV)
        self.assertEqual(reason(lambda s, o: setattr(s.waiting[0].status, "name", "WAITING_FOR_FSM")), records.WAIT_GRAMMAR)
        self.assertEqual(reason(lambda s, o: setattr(s.waiting[0].status, "name", "SOMETHING_NEW")), records.WAIT_UNKNOWN)

    def test_the_reason_is_of_the_one_at_which_the_scheduler_stopped(self):
        def reason(waiting, deferred=None, **queues):
            requests = {name: Request(name, status=SimpleNamespace(name=status)) for name, status in
                        [*waiting, *(entry for queue in queues.values() for entry in queue)]}
            scheduler = self.probed("a")
            scheduler.waiting.extend(requests[name] for name, _ in waiting)
            if deferred is not None:
                scheduler.deferred_waiting = [requests[name] for name in deferred]
            for queue, entries in queues.items():
                setattr(scheduler, queue, Queue(requests[name] for name, _ in entries))
            return scheduler._tokenstair._wait_reason(step_output({"a": 1}, ["a"], [68], [5]), 1)

        grammar, remote = "WAITING_FOR_STRUCTURED_OUTPUT_GRAMMAR", "WAITING_FOR_REMOTE_KVS"
        passed = [(f"p{i}", grammar) for i in range(40)]
        # vLLM from 0.32 on: who was passed over is back at the head, and in a set.
        self.assertEqual(reason([("g", grammar), ("w", "WAITING")], ["g"]), records.WAIT_KV_BLOCKS)
        self.assertEqual(reason([("w", "WAITING"), ("g", grammar)], ["g"]), records.WAIT_KV_BLOCKS)
        self.assertEqual(reason([("g", grammar), ("h", remote)], ["g", "h"]), records.WAIT_GRAMMAR)
        # Passed over for its adapter, or by a connector that does not know yet: not for blocks.
        self.assertEqual(reason([("l", "WAITING")], ["l"]), records.WAIT_UNKNOWN)
        self.assertEqual(reason([("l", "PREEMPTED"), ("w", "WAITING")], ["l"]), records.WAIT_KV_BLOCKS)
        self.assertEqual(reason([], [], kv_holding_waiting=[("h", remote)]), records.WAIT_REMOTE_KV)
        # Before: a queue of their own.
        self.assertEqual(reason([("w", "WAITING")], skipped_waiting=[("g", grammar)]), records.WAIT_KV_BLOCKS)
        self.assertEqual(reason([], skipped_waiting=[("g", grammar)]), records.WAIT_GRAMMAR)
        self.assertEqual(reason([], skipped_waiting=[("l", "WAITING")]), records.WAIT_UNKNOWN)
        # It is not looked for without end.
        self.assertEqual(reason([*passed, ("w", "WAITING")], [name for name, _ in passed]), records.WAIT_GRAMMAR)
        self.assertEqual(reason([]), records.WAIT_UNKNOWN)

    def test_a_preemption_names_who_wanted_the_blocks(self):
        class Preempting(Scheduler):
            def schedule(self):
                request = self.requests["a"]  # as vLLM calls the one it schedules
                self._preempt_request(self.requests["b"], 1.0)
                return self.step_output if request else None

        class ProbedPreempting(Recording, Preempting):
            pass

        scheduler = ProbedPreempting("a", "b")
        scheduler._tokenstair = StepRecorder(scheduler, self.outbox(), {})
        self.run_step(scheduler, step_output({"a": 1}, ["a"], [68], [5]), {})
        scheduler._tokenstair.ship()
        [row] = self.records_of(scheduler, records.PREEMPTED)
        self.assertEqual(row[2:6], [0, "b", records.PREEMPT_KV_BLOCKS, "a"])
        self.assertEqual(row[6:8], [69, 5])
        self.assertEqual(row[9:11], [1, 3])

    def test_records_keep_their_order_among_the_steps_and_large_ones_go_in_several_messages(self):
        names = [f"request-with-a-long-name-{i:04d}" for i in range(300)]
        scheduler = self.probed(*names)
        scheduler._tokenstair._several = True
        for i in range(20):
            self.run_step(
                scheduler, step_output(dict.fromkeys(names, 1), names, [68] * 300, [5] * 300),
                {0: SimpleNamespace(outputs=[Output(name, [1, 2]) for name in names])})
            scheduler.add_request(Request(f"new-{i}"))
        scheduler._tokenstair.ship()
        messages = list(self.collected.messages())
        kinds = [record[0] for _, rows in messages for record in rows if record[0] in (records.STEP, records.QUEUED)]
        self.assertEqual(kinds, [records.STEP, records.QUEUED] * 20)
        self.assertGreater(len(messages), 2)
        self.assertEqual([envelope[6] for envelope, _ in messages][0], 0)

    def test_requests_that_come_and_are_ended_from_outside(self):
        scheduler = self.probed("a")
        scheduler.add_request(Request("b", prompt=17))
        scheduler.finish_requests(iter(["a", "unknown"]), SimpleNamespace(name="FINISHED_ABORTED"))
        scheduler._tokenstair.ship()
        messages = list(self.collected.messages())
        body = [record for _, rows in messages for record in rows]
        queued = [record for record in body if record[0] == records.QUEUED]
        self.assertEqual(queued[0][2:], ["b", 1790000000.25, 17, 100, 0])
        ended = [record for record in body if record[0] == records.ENDED]
        self.assertEqual(ended[0][2:], [[["a", 5]], "FINISHED_ABORTED"])

    def test_methods_of_the_engine_that_are_replaced_while_it_runs_are_those_that_are_called(self):
        class Lower(Scheduler):
            pass

        class Upper(Lower):
            pass

        class ProbedUpper(Recording, Upper):
            pass

        scheduler = ProbedUpper("a")
        scheduler._tokenstair = StepRecorder(scheduler, self.outbox(), {})
        calls = []

        def step(k):
            self.run_step(scheduler, step_output({"a": 1}, ["a"], [68 + k], [5 + k]), {0: SimpleNamespace(outputs=[Output("a", [1])])})

        def replace(owner):
            def schedule(self):
                calls.append((owner, "schedule"))
                return Scheduler.schedule(self)

            def update_from_output(self, *args):
                calls.append((owner, "update"))
                return Scheduler.update_from_output(self, *args)

            owner.schedule, owner.update_from_output = schedule, update_from_output

        step(0)
        step(1)
        for k, owner in enumerate((Lower, Upper), 2):
            replace(owner)
            step(k)
        self.assertEqual(calls, [(Lower, "schedule"), (Lower, "update"), (Upper, "schedule"), (Upper, "update")])
        self.assertEqual(scheduler._tokenstair.step_count, 4)

    def test_a_recorder_goes_with_its_scheduler(self):
        scheduler = self.probed("a")
        for k in range(3):
            self.run_step(
                scheduler, step_output({"a": 1}, ["a"], [68 + k], [5 + k]), {0: SimpleNamespace(outputs=[Output("a", [1])])})
        gone = weakref.ref(scheduler)
        del scheduler
        gc.collect()
        self.assertIsNone(gone())

    def test_a_probe_that_fails_goes_off_and_the_engine_goes_on(self):
        scheduler = self.probed("a")
        with self.assertLogs("vllm.tokenstair_probe", "ERROR") as logs:
            for _ in range(20):
                self.run_step(scheduler, SimpleNamespace(scheduled_new_reqs=(), unlike="anything known"), {0: object()})
                scheduler._tokenstair.ship()
        self.assertEqual(len(logs.records), 1)
        self.assertFalse(scheduler._tokenstair.on)

    def test_an_error_of_the_engine_itself_is_passed_on(self):
        class Failing(Scheduler):
            def schedule(self):
                raise ValueError("the engine's own")

        class ProbedFailing(Recording, Failing):
            pass

        scheduler = ProbedFailing("a")
        scheduler._tokenstair = StepRecorder(scheduler, self.outbox(), {})
        with self.assertRaisesRegex(ValueError, "the engine's own"):
            scheduler.schedule()

    def test_what_a_collector_does_not_take_is_counted_and_never_waited_for(self):
        # Nobody listens at this address: a queue of 4 messages, then loss.
        outbox = self.outbox(pending=4, address="tcp://127.0.0.1:9")
        started = time.monotonic()
        for i in range(1000):
            outbox.put((records.PAUSED, "gc", i, i + 1))
            outbox.put((records.PAUSED, "gc", i, i + 1))
            outbox.flush()
        self.assertLess(time.monotonic() - started, 5)
        self.assertEqual(outbox.lost, 2 * (1000 - 4))

    def test_sent_and_lost_are_all_there_is(self):
        few = Collected(high_water_mark=2)
        try:
            outbox = self.outbox(pending=2, address=few.address)
            for i in range(20_000):
                outbox.put((records.PAUSED, "x" * 200, i, i + 1))
                outbox.flush()
            received, last = 0, None
            for envelope, body in few.messages():
                received += len(body)
                last = envelope
            outbox.put((records.PAUSED, "end", 0, 1))
            outbox.flush()
            for envelope, body in few.messages():
                received += len(body)
                last = envelope
            self.assertGreater(last[8], 0)
            self.assertEqual(last[8], outbox.lost)
            self.assertEqual(received + outbox.lost, 20_001)
            self.assertEqual(last[6] + last[7], 20_001)
        finally:
            few.close()

    def test_a_queue_that_is_full_loses_whole_steps_and_counts_each(self):
        scheduler = self.probed("a")
        scheduler._tokenstair._announce_at = 1 << 62
        shipped = 3 * MAX_KEPT
        for i in range(shipped):
            if i == 2 * MAX_KEPT:
                scheduler._tokenstair.ship()
            self.run_step(scheduler, step_output({"a": 1}, ["a"], [68], [5]), {0: SimpleNamespace(outputs=[Output("a", [1])])})
        scheduler._tokenstair.ship()
        self.run_step(scheduler, step_output({"a": 1}, ["a"], [68], [5]), {0: SimpleNamespace(outputs=[Output("a", [1])])})
        scheduler._tokenstair.ship()
        steps, numbers, lost = [], [], 0
        for envelope, body in self.collected.messages():
            numbers += range(envelope[6], envelope[6] + envelope[7])
            self.assertEqual(envelope[7], count_of(body))
            steps += [row[0] for row in self.steps_of([(envelope, body)])]
            lost = envelope[8]
        others = 2  # the announcement at the start
        self.assertEqual(len(numbers) - others, len(steps))
        self.assertEqual(len(steps) + lost, shipped + 1)
        self.assertEqual(numbers[-1] + 1, others + shipped + 1)
        self.assertEqual(steps, sorted(set(steps)))
        self.assertGreater(lost, MAX_KEPT)

    def test_a_frozen_collector_is_not_waited_for_and_all_that_it_misses_is_counted(self):
        code = (
            "import sys, zmq\n"
            "socket = zmq.Context().socket(zmq.PULL)\n"
            "socket.setsockopt(zmq.RCVHWM, 2)\n"
            "port = socket.bind_to_random_port('tcp://127.0.0.1')\n"
            "print(port, flush=True)\n"
            "import msgspec\n"
            "while True:\n"
            "    envelope, body = socket.recv_multipart()\n"
            "    envelope = msgspec.msgpack.decode(envelope)\n"
            "    print(envelope[6], envelope[7], envelope[8], flush=True)\n")
        with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as collector, contextlib.ExitStack() as ends:
            # Where something fails in here: one that is stopped would be waited for.
            ends.callback(collector.kill)
            address = f"tcp://127.0.0.1:{collector.stdout.readline().strip()}"
            scheduler = Probed("a")
            recorder = scheduler._tokenstair = StepRecorder(scheduler, self.outbox(pending=4, address=address), {})
            names = [f"request-{i:04d}" for i in range(200)]

            def steps(count):
                for _ in range(count):
                    self.run_step(
                        scheduler, step_output(dict.fromkeys(names, 1), names, [68] * 200, [5] * 200),
                        {0: SimpleNamespace(outputs=[Output(name, [1]) for name in names])})
                    recorder.ship()

            steps(100)
            collector.send_signal(signal.SIGSTOP)
            started = time.thread_time()
            steps(3000)
            self.assertLess(time.thread_time() - started, 10)
            self.assertGreater(recorder.outbox.lost, 0)
            collector.send_signal(signal.SIGCONT)
            # Nothing is waited for longer than this.
            end = threading.Timer(60, collector.kill)
            ends.callback(end.cancel)
            end.start()
            rows = []

            def read():
                rows.append(tuple(map(int, collector.stdout.readline().split())))

            # What was sent comes; then one more tells what was lost.
            while sum(count for _, count, _ in rows) < recorder.outbox._next - recorder.outbox.lost:
                read()
            lost = -1
            while lost != recorder.outbox.lost and end.is_alive():
                lost = recorder.outbox.lost
                steps(1)
            while sum(rows[-1][:2]) < recorder.outbox._next:
                read()
        received = sum(count for _, count, _ in rows)
        made = rows[-1][0] + rows[-1][1]
        self.assertEqual(received + recorder.outbox.lost, made)
        self.assertEqual(rows[-1][2], recorder.outbox.lost)

    def test_an_engine_that_ends_sends_what_it_holds(self):
        watch = self.watch()
        scheduler = Probed("a")
        scheduler._tokenstair = StepRecorder(scheduler, Outbox(watch.wire, "engine", 0, "steps"), {})
        watch.carry(scheduler._tokenstair)
        self.run_step(scheduler, step_output({"a": 1}, ["a"], [68], [5]), {0: SimpleNamespace(outputs=[Output("a", [1])])})
        scheduler.shutdown()
        kinds = [record[0] for _, body in self.collected.messages(3000) for record in body]
        self.assertIn(records.STEP, kinds)
        self.assertIn(records.PROCESS, kinds)

    def test_steps_in_flight_are_told_apart_and_one_that_never_ends_is_passed_over(self):
        scheduler = self.probed("a")
        outputs = [step_output({"a": 1}, ["a"], [68 + i], [5 + i]) for i in range(4)]
        for output in outputs[:3]:
            scheduler.step_output = output
            scheduler.schedule()
        scheduler.result = {0: SimpleNamespace(outputs=[Output("a", [1])])}
        scheduler.update_from_output(outputs[0], None)
        scheduler.update_from_output(outputs[2], None)
        self.run_step(scheduler, outputs[3], scheduler.result)
        scheduler._tokenstair.ship()
        found = self.steps_of(self.collected.messages())
        self.assertEqual([(step, computed) for step, _, computed, *_ in found], [(0, [68]), (2, [70]), (3, [71])])

    def test_a_record_that_cannot_be_encoded_keeps_its_number(self):
        outbox = self.outbox()
        outbox.put((records.PAUSED, "gc", 1, 2))
        outbox.put((records.PAUSED, object(), 1, 2))
        outbox.put((records.PAUSED, "gc", 3, 4))
        outbox.flush()
        [(envelope, body)] = self.collected.messages()
        self.assertEqual(envelope[7], 3)
        self.assertEqual([record[0] for record in body], [records.PAUSED, records.UNENCODABLE, records.PAUSED])

    def test_an_eviction_says_what_it_made_room_for(self):
        told = []
        pool = Pool()
        BlockLife(pool, lambda *row: told.append(row))
        block = pool.blocks[0]
        expected = int.from_bytes(block.block_hash[-12:-4], "big")
        pool.touch([block])
        pool.touch(([block],))  # as older pools are given them
        pool.free_blocks(iter([block]))
        pool.get_new_blocks(1)
        [(asked, hashes, reused, idle)] = told
        self.assertEqual((asked, hashes, reused), (1, [expected], [2]))
        self.assertGreaterEqual(idle[0], 0)
        told.clear()
        pool.evict_blocks({2})
        self.assertEqual([(row[0], len(row[1])) for row in told], [(0, 1)])

    def test_hashes_are_those_of_the_kv_events(self):
        digest = bytes(range(32))
        self.assertEqual(short_hash(digest + b"\0\0\0\1"), int.from_bytes(digest, "big") & (2**64 - 1))
        self.assertEqual(short_hash(((5, 6), 0)), 5)
        self.assertIsNone(short_hash("something else"))

    def test_the_cause_of_a_stall(self):
        self.assertEqual(stall_cause(40_000_000, 8, 0), "gil")
        self.assertEqual(stall_cause(40_000_000, 0, 0), "stop")
        self.assertEqual(stall_cause(900_000_000, 3, 300_000_000), "stop")
        self.assertIsNone(stall_cause(40_000_000, 8, 30_000_000))

    def test_a_process_that_is_stopped_and_an_interpreter_that_is_held_are_told_apart(self):
        code = (
            "import ctypes, sys, time\n"
            "from tokenstair_probe.process import ProcessWatch\n"
            "watch = ProcessWatch.start('worker', 0)\n"
            "time.sleep(0.5)\n"
            "print(time.monotonic_ns(), flush=True)\n"
            "sys.stdin.readline()\n"
            "time.sleep(0.3)\n"
            "keep = ctypes.PyDLL(None).usleep\n"
            "for _ in range(4):\n"
            "    keep(700_000)\n"
            "    time.sleep(0.2)\n"
            "watch.finish()\n")
        environment = {**os.environ, "TOKENSTAIR_PROBE": self.collected.address, "PYTHONPATH": PACKAGE}
        with subprocess.Popen(
                [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as process:
            process.stdout.readline()
            for _ in range(4):
                process.send_signal(signal.SIGSTOP)
                time.sleep(0.7)
                process.send_signal(signal.SIGCONT)
                time.sleep(0.2)
            begun = time.monotonic_ns()
            process.communicate("go\n")
        found = {"stop": [], "gil": []}
        for _, body in self.collected.messages():
            for record in body:
                # Where the machine is short of cores some are told as none, and some of the other are short ones.
                if record[0] == records.PAUSED and record[3] - record[2] >= 400_000_000:
                    found[record[1]].append(record[2] < begun)
        self.assertTrue(found["stop"] and all(found["stop"]), found)
        self.assertTrue(found["gil"] and not any(found["gil"]), found)

    def test_what_is_built_is_what_is_tested(self):
        self.assertEqual(usual.COMPILED, "TOKENSTAIR_PROBE_PACKAGE" in os.environ)

    def test_versions(self):
        self.assertEqual(verdict("0.32.0"), (True, None))
        self.assertEqual(verdict("0.19.1+cpu"), (True, None))
        self.assertFalse(verdict("0.9.2")[0])
        self.assertIn("newer", verdict("0.40.0")[1])
        self.assertTrue(verdict("dev")[0])

    def test_limits_leave_out_what_is_not_there(self):
        found = limits_of(Scheduler(), "0.32.0")
        self.assertEqual(found["kvTotalBlocks"], 3)
        self.assertEqual(found["tokenBudgetTokens"], 512)
        self.assertNotIn("policy", found)
        self.assertFalse(found["kvEvents"])


if __name__ == "__main__":
    unittest.main()
