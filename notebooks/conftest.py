"""A hand-made archive: two requests, three steps, one preemption."""

import duckdb
import pytest

from archive import PARTS


@pytest.fixture
def small_archive(tmp_path):
    """An archive of two requests. Request ``victim`` is preempted before its last token."""
    folder = tmp_path / "an archive's results"
    parts = [f"part_{part.replace('-', '_')}_nanos" for part in PARTS]
    texts = ("request_id", "cause", "confidence", "culprit_request_id")
    token_columns = ["request_id", "lifetime", "sequence_index", "token_index", "step_id", "gap_nanos", "reference_nanos"]
    token_columns += ["excess_nanos", "delivery_nanos", "cause", "confidence", "culprit_request_id"] + parts
    token_columns += [f"delivery_{part}_nanos" for part in ("output", "gateway", "network", "client", "unexplained")]

    def token(request, index, gap, cause=None, **nanos):
        known = {"request_id": request, "lifetime": 0, "sequence_index": 0, "token_index": index, "gap_nanos": gap, "cause": cause}
        known |= {f"part_{part}_nanos": value for part, value in nanos.items()}
        return [known.get(column) for column in token_columns]

    tables = {
        "request_analysis": (["request_id", "token_count"], [["victim", 2], ["other", 1]]),
        "step_analysis": (["step_id", "step_nanos"], [[1, 10_000_000], [2, 11_000_000], [3, 12_000_000]]),
        "token_analysis": (
            token_columns,
            [
                token("victim", 0, 10_000_000, reference=10_000_000),
                token("victim", 1, 90_000_000, "PREEMPTION", reference=10_000_000, preempted_wait=80_000_000),
                token("other", 0, 10_000_000, reference=10_000_000, unexplained=0),
            ],
        ),
    }
    connection = duckdb.connect()
    for name, (columns, rows) in tables.items():
        target = folder / f"table={name}" / "date=2026-01-01" / "hour=00"
        target.mkdir(parents=True)
        types = ", ".join(f"{c} {'varchar' if c in texts else 'bigint'}" for c in columns)
        connection.execute(f"create table {name} ({types})")
        connection.executemany(f"insert into {name} values ({', '.join('?' * len(columns))})", rows)
        file = str(target / "part-0.parquet").replace("'", "''")
        connection.execute(f"copy {name} to '{file}' (format parquet)")
    return folder
