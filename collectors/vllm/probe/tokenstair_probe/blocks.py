"""The life of cached KV blocks: how often each was found again, when it was last used, and what it was evicted for."""
from time import monotonic_ns


class BlockLife:
    """Watches a block pool through its own methods. Costs nothing in a step that takes, finds and frees no block.

    Holds at most one entry per block of the pool in each of two dictionaries.
    """

    def __init__(self, pool, evicted) -> None:
        self._evicted = evicted
        self._gone: list = []
        self._reused: dict[int, int] = {}
        self._freed: dict[int, int] = {}
        take = getattr(pool, "get_new_blocks", None)
        evict = getattr(pool, "_maybe_evict_cached_block", None)
        if take is None or evict is None:
            return
        gone = self._gone

        def maybe_evict(block, *args, **kwargs):
            key = block.block_hash
            result = evict(block, *args, **kwargs)
            if result and key is not None:
                gone.append((block.block_id, key))
            return result

        def get_new_blocks(count, *args, **kwargs):
            blocks = take(count, *args, **kwargs)
            if gone:
                self._tell(count)
            return blocks

        pool._maybe_evict_cached_block = maybe_evict
        pool.get_new_blocks = get_new_blocks
        self._wrap_touch(pool)
        self._wrap_free(pool)
        self._wrap_reset(pool)
        self._wrap_evict(pool)

    def _wrap_touch(self, pool) -> None:
        touch = getattr(pool, "touch", None)
        if touch is None:
            return
        reused = self._reused

        def counted(blocks, *args, **kwargs):
            result = touch(blocks, *args, **kwargs)
            for block in blocks:
                # Older pools are given one sequence per group.
                for each in (block,) if hasattr(block, "block_id") else block:
                    reused[each.block_id] = reused.get(each.block_id, 0) + 1
            return result

        pool.touch = counted

    def _wrap_free(self, pool) -> None:
        free = getattr(pool, "free_blocks", None)
        if free is None:
            return
        freed = self._freed

        def stamped(ordered_blocks, *args, **kwargs):
            blocks = list(ordered_blocks)
            freed.update(dict.fromkeys([block.block_id for block in blocks], monotonic_ns()))
            return free(blocks, *args, **kwargs)

        pool.free_blocks = stamped

    def _wrap_reset(self, pool) -> None:
        reset = getattr(pool, "reset_prefix_cache", None)
        if reset is None:
            return

        def forgetful(*args, **kwargs):
            result = reset(*args, **kwargs)
            if result:
                self._reused.clear()
            return result

        pool.reset_prefix_cache = forgetful

    def _wrap_evict(self, pool) -> None:
        """Blocks that are evicted by name, such as those that a KV connector failed to load, make room for nobody."""
        evict = getattr(pool, "evict_blocks", None)
        if evict is None:
            return
        gone = self._gone

        def evicted(*args, **kwargs):
            result = evict(*args, **kwargs)
            if gone:
                self._tell(0)
            return result

        pool.evict_blocks = evicted

    def _tell(self, asked: int) -> None:
        now = monotonic_ns()
        hashes, reused, idle = [], [], []
        for block_id, key in self._gone:
            number = short_hash(key)
            if number is not None:
                hashes.append(number)
                reused.append(self._reused.pop(block_id, 0))
                freed = self._freed.get(block_id)
                idle.append(-1 if freed is None else now - freed)
        self._gone.clear()
        if hashes:
            self._evicted(asked, hashes, reused, idle)


def short_hash(key) -> int | None:
    """The unsigned 64-bit number that vLLM's KV events use for a block: the digest's last 8 bytes, big-endian.

    A key is the digest and 4 bytes that number the group of the cache; older versions have a tuple of both.
    """
    if isinstance(key, tuple):
        key = key[0]
        if isinstance(key, tuple):
            key = key[0]
        if isinstance(key, int):
            return key & 0xFFFF_FFFF_FFFF_FFFF
        return int.from_bytes(key[-8:], "big") if isinstance(key, bytes) else None
    if isinstance(key, bytes) and len(key) >= 12:
        return int.from_bytes(key[-12:-4], "big")
    return None
