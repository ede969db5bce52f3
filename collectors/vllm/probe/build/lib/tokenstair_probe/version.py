"""Which vLLM this probe knows."""
OLDEST = (0, 12)
# What its parts were tried with: docs/engines/vllm.md.
NEWEST_TRIED = (0, 32)


def parse(version: str) -> tuple[int, int] | None:
    parts = version.split("+")[0].split(".")
    try:
        return int(parts[0]), int(parts[1])
    except (IndexError, ValueError):
        return None


def verdict(version: str) -> tuple[bool, str | None]:
    """Whether to record, and what to say."""
    known = parse(version)
    if known is None:
        return True, f"vLLM's version {version!r} cannot be read; recording what can be read of its scheduler"
    if known < OLDEST:
        return False, (f"vLLM {version} is older than {OLDEST[0]}.{OLDEST[1]}, the oldest this probe reads: "
                       "nothing is recorded; KV events and /metrics still work")
    if known > NEWEST_TRIED:
        return True, (f"vLLM {version} is newer than {NEWEST_TRIED[0]}.{NEWEST_TRIED[1]}, the newest this probe was tried with; "
                      "what it cannot read will be absent")
    return True, None
