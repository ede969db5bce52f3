"""Ships what the vLLM scheduler decides, step by step, to a Tokenstair collector.

Nothing here may hold up the engine: records are encoded by msgspec, sent without waiting, and counted where they cannot be
sent. Nothing here may fail the engine: what goes wrong in the probe switches the probe off, with one line in the log.
"""

__version__ = "0.1.0"
