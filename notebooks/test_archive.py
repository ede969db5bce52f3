import pytest

from archive import PARTS, ArchiveError, open_archive, short


def test_every_table_is_a_view(small_archive):
    connection = open_archive(small_archive)
    assert connection.execute("select count(*) from token_analysis").fetchone() == (3,)
    assert connection.execute("select request_id from token_analysis where cause = 'PREEMPTION'").fetchall() == [("victim",)]


def test_a_table_without_a_file_is_empty(small_archive):
    assert open_archive(small_archive).execute("select count(*) from finding").fetchone() == (0,)


def test_the_parts_of_a_token_add_up_to_its_gap(small_archive):
    unequal = """
        select request_id, token_index from token_part
        group by request_id, token_index, gap_nanos having sum(nanos) != gap_nanos
    """
    assert open_archive(small_archive).execute(unequal).fetchall() == []


def test_every_part_has_a_colour(small_archive):
    # Without a file the table is the empty one of views.sql, which has every column there is.
    next((small_archive / "table=token_analysis").rglob("*.parquet")).unlink()
    columns = [row[0] for row in open_archive(small_archive).execute("describe token_analysis").fetchall()]
    parts = [column[len("part_") : -len("_nanos")].replace("_", "-") for column in columns if column.startswith("part_")]
    assert parts == list(PARTS)


def test_the_environment_names_the_archive(small_archive, monkeypatch):
    monkeypatch.setenv("TOKENSTAIR_ARCHIVE", str(small_archive))
    assert open_archive().execute("select count(*) from step_analysis").fetchone() == (3,)


def test_a_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(ArchiveError, match="no such folder. Make one: ./tokenstair demo"):
        open_archive(tmp_path / "none")


def test_an_archive_without_results_names_replay(tmp_path):
    with pytest.raises(ArchiveError, match="Cannot find results in .* Make them: ./tokenstair replay"):
        open_archive(tmp_path)


def test_a_long_name_is_cut():
    assert short("a" * 256) == "a" * 31 + "…"
    assert short("press-7") == "press-7"
