"""The one way the notebooks open an archive: DuckDB views over its tables.

A table is a folder ``table=<name>`` of Parquet files. The result tables and their columns are the records of the package
io.tokenstair.archive.result, in snake case; times end in ``_nanos``; what is not known is NULL, never 0.
"""

import os
from pathlib import Path

import duckdb

DEFAULT_ARCHIVE = Path(__file__).resolve().parent.parent / ".tokenstair" / "demo" / "results"

RESULT_TABLES = ("request_analysis", "token_analysis", "step_analysis")

# The parts of a token's gap, in the order they are assigned, and the colour each has in every plot.
PARTS = {
    "reference": "#c9ced6",
    "queue_wait": "#8c6bb1",
    "preempted_wait": "#d7301f",
    "skipped_wait": "#fc8d59",
    "transfer_wait": "#b35806",
    "batch": "#74a9cf",
    "context": "#2b8cbe",
    "prefill": "#fdbb84",
    "recompute_own": "#7f0000",
    "recompute_other": "#e7298a",
    "graph": "#1b9e77",
    "kernel": "#66a61e",
    "sync": "#a6761d",
    "alloc": "#e6ab02",
    "collective": "#01665e",
    "host_contention": "#525252",
    "host_pause": "#000000",
    "host_gap": "#969696",
    "unexplained": "#f768a1",
}


class ArchiveError(Exception):
    """An archive that cannot be read: says which, why, and what to do."""


def open_archive(folder=None):
    """A DuckDB connection with one view per table of the archive.

    The archive is ``folder``, else the environment's TOKENSTAIR_ARCHIVE, else what ``./tokenstair demo`` leaves.
    """
    folder = Path(folder or os.environ.get("TOKENSTAIR_ARCHIVE") or DEFAULT_ARCHIVE)
    if not folder.is_dir():
        raise ArchiveError(f"Cannot open the archive: {folder}: no such folder. Make one: ./tokenstair demo --once")
    connection = duckdb.connect()
    connection.execute("set threads = 2")
    names = set()
    for table in sorted(folder.glob("table=*")):
        if next(table.rglob("*.parquet"), None) is None:
            continue
        name = table.name.removeprefix("table=")
        files = str(table / "**" / "*.parquet").replace("'", "''")
        connection.execute(
            f'create view "{name}" as from read_parquet(\'{files}\', hive_partitioning = false, union_by_name = true)'
        )
        names.add(name)
    missing = [name for name in RESULT_TABLES if name not in names]
    if missing:
        raise ArchiveError(
            f"Cannot find the results of {folder}: no {', '.join(missing)}. "
            "Make them: ./tokenstair replay --archive DIR --out RESULTS"
        )
    return connection


def parts_of(connection):
    """The names of the parts that own any time at all in this archive, in their order."""
    sums = ", ".join(f"count(nullif(part_{part}_nanos, 0))" for part in PARTS)
    counts = connection.execute(f"select {sums} from token_analysis").fetchone()
    return [part for part, count in zip(PARTS, counts) if count]
