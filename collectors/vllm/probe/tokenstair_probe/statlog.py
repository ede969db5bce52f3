"""The stat-logger plug-in: what the prefix cache was asked for and found, and the watch of the API server's process."""
import asyncio
from time import monotonic_ns

from vllm.v1.metrics.loggers import StatLoggerBase

from tokenstair_probe import records
from tokenstair_probe.process import ProcessWatch


class ProbeStatLogger(StatLoggerBase):
    def __init__(self, vllm_config, engine_index: int = 0) -> None:
        self._engine = engine_index
        self._failed = False
        self._watched = False
        self._watch = None
        try:
            self._watch = ProcessWatch.start("api", None)
        except Exception:
            self._failed = True

    def record(self, scheduler_stats, iteration_stats, mm_cache_stats=None, engine_idx=0, **_):
        watch = self._watch
        if watch is None or self._failed:
            return
        try:
            if not self._watched:
                self._watched = True
                watch.watch_loop(asyncio.get_running_loop())
            watch.signs += 1
            stats = getattr(scheduler_stats, "prefix_cache_stats", None)
            if stats is not None and (stats.queries or getattr(stats, "preempted_queries", 0)):
                watch.hand_over((
                    records.LOOKUP, monotonic_ns(), engine_idx, stats.queries, stats.hits,
                    getattr(stats, "preempted_queries", None), getattr(stats, "preempted_hits", None)))
        except Exception:
            self._failed = True

    def log_engine_initialized(self):
        pass

    def log(self):
        pass
