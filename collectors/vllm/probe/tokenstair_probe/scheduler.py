"""The scheduler classes to give to vLLM.

    --scheduler-cls tokenstair_probe.scheduler.ProbeAsyncScheduler    async scheduling on, the default on GPUs
    --scheduler-cls tokenstair_probe.scheduler.ProbeScheduler         async scheduling off, as on CPUs
"""
import vllm
from vllm.logger import init_logger
from vllm.v1.core.sched.scheduler import Scheduler

from tokenstair_probe.limits import limits_of
from tokenstair_probe.outbox import Outbox, endpoint
from tokenstair_probe.process import ProcessWatch
from tokenstair_probe.recorder import Recording, StepRecorder
from tokenstair_probe.usual import COMPILED
from tokenstair_probe.version import verdict

try:
    from vllm.v1.core.sched.async_scheduler import AsyncScheduler
except ImportError:
    AsyncScheduler = None

logger = init_logger("vllm.tokenstair_probe")


class _Attached(Recording):
    def __init__(self, *args, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        try:
            self._tokenstair = attach(self)
        except Exception:
            logger.exception("The probe cannot read this scheduler and records nothing. The engine is not affected.")


def attach(scheduler) -> StepRecorder | None:
    address = endpoint()
    if address is None:
        logger.warning("TOKENSTAIR_PROBE is not set: the probe records nothing. Set it to the collector, "
                       "such as tcp://127.0.0.1:5559")
        return None
    good, remark = verdict(vllm.__version__)
    if remark is not None:
        logger.warning("%s", remark)
    if not good:
        return None
    rank = getattr(getattr(scheduler, "parallel_config", None), "data_parallel_index", None)
    if rank is None:
        rank = getattr(getattr(scheduler, "parallel_config", None), "data_parallel_rank", 0)
    watch = ProcessWatch.start("engine", rank)
    if watch is None:
        return None
    recorder = StepRecorder(scheduler, Outbox(watch.wire, "engine", rank, "steps"), limits_of(scheduler, vllm.__version__))
    watch.carry(recorder)
    logger.info("The probe sends the steps of this engine (rank %s) to %s. It runs %s", rank, address,
                "compiled" if COMPILED else "as Python alone, which takes more of a core per step: its compiled part is not there")
    return recorder


class ProbeScheduler(_Attached, Scheduler):
    """For engines that schedule and take in one step at a time."""


if AsyncScheduler is not None:
    class ProbeAsyncScheduler(_Attached, AsyncScheduler):
        """For engines that schedule step N+1 before step N's output is taken in."""
