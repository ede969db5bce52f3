"""What an engine's limits are, of the configuration it has; what it does not say is left out."""
import os
from time import time_ns

from tokenstair_probe import __version__


def _of(thing, *names):
    for name in names:
        thing = getattr(thing, name, None)
        if thing is None:
            return None
    return thing


def limits_of(scheduler, version: str) -> dict:
    config = _of(scheduler, "vllm_config")
    blocks = _of(scheduler, "kv_cache_manager", "block_pool", "num_gpu_blocks")
    model = _of(config, "model_config", "served_model_name")
    if isinstance(model, (list, tuple)):
        model = model[0] if model else None
    policy = _of(scheduler, "scheduler_config", "policy")
    found = {
        "engineVersion": version,
        "probeVersion": __version__,
        "pid": os.getpid(),
        "startedWallNanos": time_ns(),
        "model": model if isinstance(model, str) else _of(config, "model_config", "model"),
        "tokenBudgetTokens": _of(scheduler, "max_num_scheduled_tokens"),
        "maxSequences": _of(scheduler, "max_num_active_reqs") or _of(scheduler, "max_num_running_reqs"),
        # One block of the pool is the null block and is never handed out.
        "kvTotalBlocks": blocks - 1 if isinstance(blocks, int) else None,
        "blockSizeTokens": _of(scheduler, "block_size"),
        "policy": None if policy is None else getattr(policy, "value", str(policy)),
        "async": _of(scheduler, "scheduler_config", "async_scheduling"),
        "tensorParallel": _of(scheduler, "parallel_config", "tensor_parallel_size"),
        "pipelineParallel": _of(scheduler, "parallel_config", "pipeline_parallel_size"),
        "dataParallel": _of(scheduler, "parallel_config", "data_parallel_size"),
        "contextParallel": _of(scheduler, "parallel_config", "decode_context_parallel_size"),
        "eager": _of(config, "model_config", "enforce_eager"),
        "maxGraphBatch": _of(config, "compilation_config", "max_cudagraph_capture_size"),
        "kvEvents": _of(scheduler, "enable_kv_cache_events") or (
            type(_of(scheduler, "kv_event_publisher")).__name__ not in ("NoneType", "NullEventPublisher")),
        "speculativeTokens": _of(scheduler, "num_spec_tokens"),
    }
    return {name: value for name, value in found.items() if isinstance(value, (str, int, bool))}
