import pytest

from archive import ArchiveError, open_archive, parts_of


def test_every_table_is_a_view(small_archive):
    connection = open_archive(small_archive)
    assert connection.execute("select count(*) from token_analysis").fetchone() == (3,)
    assert connection.execute("select request_id from token_analysis where cause = 'PREEMPTION'").fetchall() == [("victim",)]


def test_the_folders_of_the_layout_are_no_columns(small_archive):
    columns = [row[0] for row in open_archive(small_archive).execute("describe request_analysis").fetchall()]
    assert columns == ["request_id", "token_count"]


def test_the_environment_names_the_archive(small_archive, monkeypatch):
    monkeypatch.setenv("TOKENSTAIR_ARCHIVE", str(small_archive))
    assert open_archive().execute("select count(*) from step_analysis").fetchone() == (3,)


def test_parts_that_own_nothing_are_left_out(small_archive):
    assert parts_of(open_archive(small_archive)) == ["reference", "preempted_wait"]


def test_a_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(ArchiveError, match="no such folder. Make one: ./tokenstair demo"):
        open_archive(tmp_path / "none")


def test_an_archive_without_results_names_replay(small_archive):
    (small_archive / "table=token_analysis" / "date=2026-01-01" / "hour=00" / "part-0.parquet").unlink()
    with pytest.raises(ArchiveError, match="no token_analysis. Make them: ./tokenstair replay"):
        open_archive(small_archive)
