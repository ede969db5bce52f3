"""What several builds of the probe take around the steps of one real engine, by turns: us of a core per step, in the scheduler's thread.

    turns.py MODEL SECONDS NAME=FOLDER[:0] ...

FOLDER has the package tokenstair_probe; with :0 its compiled part is left out. Blocks of 50 steps of 4 sequences take turns in one process in an order
by chance, those without a probe among them. Counted is what `schedule` and `update_from_output` take less vLLM's own part, and of that what it is
without a probe. Nothing is sent in between. For a machine that does other things too: what it does, it does to all.
"""
import importlib
import os
import random
import statistics
import sys
import time
from time import thread_time_ns

os.environ.update({"VLLM_ENABLE_V1_MULTIPROCESSING": "0", "HF_HUB_OFFLINE": "1"})

from vllm import LLM, SamplingParams  # noqa: E402
from vllm.v1.core.sched.scheduler import Scheduler  # noqa: E402

BLOCK = 50
SETTLE = 8
TOKENS = 1200
WRAPPED = ("get_new_blocks", "_maybe_evict_cached_block", "touch", "free_blocks", "reset_prefix_cache", "evict_blocks")


def timed(base, name):
    """A class whose two methods add to `name` what those of `base` take."""
    # Not by super(), which looks through the classes at each call: an engine finds the probe's methods as fast as its own.
    schedule_below, update_below = base.schedule, base.update_from_output

    class Timed(base):
        def schedule(self, *args, **kwargs):
            start = thread_time_ns()
            result = schedule_below(self, *args, **kwargs)
            vars(self)[name] += thread_time_ns() - start
            return result

        def update_from_output(self, *args, **kwargs):
            start = thread_time_ns()
            result = update_below(self, *args, **kwargs)
            vars(self)[name] += thread_time_ns() - start
            return result

    return Timed


def loaded(word):
    """The modules of a build; they are forgotten at once, so that another can be loaded."""
    folder, _, compiled = word.partition(":")
    os.environ["TOKENSTAIR_PROBE_COMPILED"] = compiled or "1"
    sys.path.insert(0, folder)
    recorder, outbox = (importlib.import_module(f"tokenstair_probe.{name}") for name in ("recorder", "outbox"))
    sys.path.remove(folder)
    for name in [name for name in sys.modules if name.startswith("tokenstair_probe")]:
        del sys.modules[name]
    return recorder, outbox


def main():
    model, seconds = sys.argv[1], float(sys.argv[2])
    builds = {name: loaded(word) for name, _, word in (argument.partition("=") for argument in sys.argv[3:])}
    inner = timed(Scheduler, "_inner")
    classes = {"without": timed(inner, "_outer")}
    for name, (recorder, _) in builds.items():
        classes[name] = timed(type("Probed", (recorder.Recording, inner), {}), "_outer")
    llm = LLM(
        model=model, load_format="dummy", dtype=os.environ.get("DTYPE", "bfloat16"), enforce_eager=True, max_model_len=2048, block_size=32,
        num_gpu_blocks_override=1000, kv_cache_memory_bytes=1_000_000_000, max_num_batched_tokens=512)
    engine = llm.llm_engine
    core = engine.engine_core.engine_core
    own = core.scheduler
    own._inner = own._outer = 0
    schedulers, recorders = {}, {"without": None}
    for name, cls in classes.items():
        # One scheduler of several classes: they share all it has.
        schedulers[name] = cls.__new__(cls)
        schedulers[name].__dict__ = own.__dict__
    for name, (recorder, outbox) in builds.items():
        # Nobody is there: what is sent waits, and is lost in the end.
        recorders[name] = recorder.StepRecorder(own, outbox.Outbox(outbox.Wire("tcp://127.0.0.1:9"), "engine", 0, "steps"), {})
        recorders[name].on = False
        for method in WRAPPED:
            vars(own.kv_cache_manager.block_pool).pop(method, None)
        vars(own.kv_event_publisher).pop("publish", None)
    found = {name: [] for name in classes}
    draw = random.Random(1)
    end = time.monotonic() + seconds
    life = 0
    core.scheduler = schedulers["without"]
    while time.monotonic() < end:
        life += 1
        for i in range(4):
            engine.add_request(
                f"{life}-{i}", {"prompt_token_ids": [draw.randrange(10, 4000) for _ in range(64)]},
                SamplingParams(max_tokens=TOKENS, ignore_eos=True, temperature=0))
        for _ in range(4):
            engine.step()
        for _ in range((TOKENS - 20) // BLOCK // len(classes)):
            for name in draw.sample(list(classes), len(classes)):
                if time.monotonic() > end:
                    break
                core.scheduler, recorder = schedulers[name], recorders[name]
                if recorder is not None:
                    core.scheduler._tokenstair = recorder
                    recorder.on = True
                    # The steps since its last block were others'.
                    recorder._rows = recorder._like = -1
                    recorder._unlike = recorder.step_count
                for _ in range(SETTLE):
                    engine.step()
                own._inner = own._outer = 0
                for _ in range(BLOCK - SETTLE):
                    engine.step()
                found[name].append((own._outer - own._inner) / (BLOCK - SETTLE) / 1e3)
                if recorder is not None:
                    recorder.on = False
                    recorder.ship()
        core.scheduler = schedulers["without"]
        while engine.has_unfinished_requests() and time.monotonic() < end:
            engine.step()
    base = statistics.median(found["without"])
    print(f"load of the machine {os.getloadavg()[0]:.1f}; without a probe {base:.1f} us, which is the clock's")
    for name, values in found.items():
        low, middle, high = statistics.quantiles(values, n=4)
        print(f"{name:14}{middle - base:6.1f} us (quartiles {low - base:.1f} to {high - base:.1f}; {len(values)} blocks)")
    os._exit(0)


if __name__ == "__main__":
    main()
