"""The one way the notebooks open an archive: DuckDB views over its tables.

A table is a folder ``table=<name>`` of Parquet files; what its columns mean is in docs/archive.md. Times end in ``_nanos``; what is not
known is NULL, never 0. Besides a view per table there are those of the archive's own views.sql, ``token_part`` among them.
"""

import os
from pathlib import Path

import duckdb

ROOT = Path(__file__).resolve().parent.parent
DEFAULT_ARCHIVE = ROOT / ".tokenstair" / "demo" / "results"
SHARED_VIEWS = ROOT / "parquet-archive" / "src" / "main" / "resources" / "io" / "tokenstair" / "archive" / "views.sql"

RESULT_TABLES = {"request_analysis", "token_analysis", "step_analysis"}

# The parts of a token's gap, in the order they are assigned, and the colour each has in every plot.
PARTS = {
    "reference": "#c9ced6",
    "queue-wait": "#8c6bb1",
    "preempted-wait": "#d7301f",
    "skipped-wait": "#fc8d59",
    "transfer-wait": "#b35806",
    "batch": "#74a9cf",
    "context": "#2b8cbe",
    "prefill": "#fdbb84",
    "recompute-own": "#7f0000",
    "recompute-other": "#e7298a",
    "graph": "#1b9e77",
    "kernel": "#66a61e",
    "sync": "#a6761d",
    "alloc": "#e6ab02",
    "collective": "#01665e",
    "host-contention": "#525252",
    "host-pause": "#000000",
    "host-gap": "#969696",
    "unexplained": "#f768a1",
}


class ArchiveError(Exception):
    """An archive that cannot be read: says which, why, and what to do."""


def open_archive(folder=None):
    """A DuckDB connection with the views of an archive; a table without a file is an empty view.

    The archive is ``folder``, else the environment's TOKENSTAIR_ARCHIVE, else what ``./tokenstair demo`` leaves.
    """
    folder = Path(folder or os.environ.get("TOKENSTAIR_ARCHIVE") or DEFAULT_ARCHIVE)
    if not folder.is_dir():
        raise ArchiveError(f"Cannot open the archive: {folder}: no such folder. Make one: ./tokenstair demo --once")
    connection = duckdb.connect()
    connection.execute("set threads = 2")
    found = set()
    for table in sorted(folder.glob("table=*")):
        if next(table.rglob("*.parquet"), None) is None:
            continue
        name = table.name.removeprefix("table=")
        files = str(table / "**" / "*.parquet").replace("'", "''")
        connection.execute(
            f'create view "{name}" as from read_parquet(\'{files}\','
            " hive_partitioning = true, hive_types_autocast = false, union_by_name = true)"
        )
        found.add(name)
    if not found & RESULT_TABLES:
        raise ArchiveError(
            f"Cannot find results in {folder}. Make them: ./tokenstair replay --archive {folder} --out RESULTS"
        )
    connection.execute(SHARED_VIEWS.read_text(encoding="utf-8"))
    return connection


def short(name, most=32):
    """A request id as a label: it is its sender's own text, and no more of it is shown than fits."""
    return name if len(name) <= most else name[: most - 1] + "…"
