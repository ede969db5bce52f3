"""The general plug-in: runs in every process of vLLM, and times what has no other plug-in point.

Nothing is imported for it: a module is looked at when vLLM itself has imported it.
"""
import importlib.abc
import importlib.util
import os
import sys
from time import monotonic_ns

from tokenstair_probe import records
from tokenstair_probe.outbox import endpoint
from tokenstair_probe.process import ProcessWatch


def register() -> None:
    if endpoint() is None or any(isinstance(finder, _AfterImport) for finder in sys.meta_path):
        return
    for name, patch in _PATCHES.items():
        module = sys.modules.get(name)
        if module is not None:
            _quietly(patch, module)
    sys.meta_path.insert(0, _AfterImport())


class _AfterImport(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        patch = _PATCHES.get(name)
        if patch is None:
            return None
        sys.meta_path.remove(self)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            sys.meta_path.insert(0, self)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module):
                execute(module)
                _quietly(patch, module)

            spec.loader.exec_module = exec_module
        return spec


def _quietly(patch, module) -> None:
    try:
        patch(module)
    except Exception:
        import logging
        logging.getLogger("vllm.tokenstair_probe").warning(
            "%s is not as the probe knows it: it is not timed", module.__name__)


def _timed(owner, method: str, total_name: str) -> None:
    inner = getattr(owner, method)

    def timed(*args, **kwargs):
        watch = ProcessWatch.running()
        if watch is None:
            return inner(*args, **kwargs)
        start = monotonic_ns()
        try:
            return inner(*args, **kwargs)
        finally:
            total = watch.total(total_name)
            total[0] += monotonic_ns() - start
            total[1] += 1

    timed.__name__ = method
    timed.__wrapped__ = inner
    setattr(owner, method, timed)


def _output_processor(module) -> None:
    _timed(module.OutputProcessor, "process_outputs", "output_processing")


def _sampler(module) -> None:
    _timed(module.Sampler, "forward", "sampling")


def _worker(module) -> None:
    inner = module.WorkerBase.__init__

    def started(self, *args, **kwargs):
        inner(self, *args, **kwargs)
        try:
            ProcessWatch.start("worker", getattr(getattr(self, "parallel_config", None), "data_parallel_rank", None))
        except Exception:
            pass

    module.WorkerBase.__init__ = started


def _weights(module) -> None:
    opener = module.safe_open

    class Timed:
        """A file of weights that is open: loaded from when it was opened until it is closed."""

        def __init__(self, path, *args, **kwargs) -> None:
            self._path = path
            self._start = monotonic_ns()
            self._file = opener(path, *args, **kwargs)

            self._read = False

        def __enter__(self):
            self._file = self._file.__enter__()
            return self

        def get_tensor(self, *args, **kwargs):
            self._read = True
            return self._file.get_tensor(*args, **kwargs)

        def get_slice(self, *args, **kwargs):
            self._read = True
            return self._file.get_slice(*args, **kwargs)

        def __exit__(self, *error):
            result = self._file.__exit__(*error)
            try:
                watch = ProcessWatch.running()
                # One that was opened to look at its names only was not loaded.
                if watch is not None and self._read:
                    path = os.fspath(self._path)
                    watch.hand_over((
                        records.SHARD, self._start, monotonic_ns(), os.path.basename(path), os.path.getsize(path),
                        _device(), "safetensors"))
            except Exception:
                pass
            return result

        def __getattr__(self, name):
            return getattr(self._file, name)

    module.safe_open = Timed


def _device() -> str | None:
    torch = sys.modules.get("torch")
    if torch is None:
        return None
    if torch.cuda.is_available():
        return f"cuda:{torch.cuda.current_device()}" if torch.cuda.is_initialized() else None
    return "cpu"


_PATCHES = {
    "vllm.v1.engine.output_processor": _output_processor,
    "vllm.v1.sample.sampler": _sampler,
    "vllm.v1.worker.worker_base": _worker,
    "vllm.model_executor.model_loader.weight_utils": _weights,
}
