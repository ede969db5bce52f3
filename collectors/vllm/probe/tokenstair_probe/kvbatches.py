"""The batches of KV events that a scheduler hands to its publisher, as vLLM's publishers send them, but without token ids."""


def of_batch(batch, rank: int | None) -> tuple:
    """[stamp in seconds, events, rank]: each event an array that begins with its name, as publishers up to vLLM 0.23 send it.

    In the place of each token id stands a 0: how many tokens were stored is told, which ones is not.
    """
    own = getattr(batch, "data_parallel_rank", None)
    return batch.ts, list(map(_of_event, batch.events)), rank if own is None else own


def _of_event(event) -> tuple:
    name = type(event).__name__
    if name == "BlockStored":
        tokens = event.token_ids
        return (name, event.block_hashes, event.parent_block_hash, None if tokens is None else [0] * len(tokens),
                event.block_size, None, getattr(event, "medium", None))
    if name == "BlockRemoved":
        return name, event.block_hashes, getattr(event, "medium", None)
    return (name,)
