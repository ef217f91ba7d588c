"""Folders that are written as a whole: nothing of somebody else's is replaced."""

from pathlib import Path

import pytest

from judgesmith.experiments.run_folders import check_folder, stated_in, write_rows


def checked(folder: Path, run: str, *, force: bool = False) -> None:
    stated = stated_in(folder / "report.json")
    files = ("report.json", "rows.jsonl")
    check_folder(folder, run, stated=stated, files=files, what="a test", force=force)


def test_a_run_may_write_where_nothing_is_and_where_it_wrote_before(tmp_path: Path) -> None:
    checked(tmp_path / "new", "a")
    (tmp_path / "report.json").write_text('{"run": "a"}')
    write_rows(tmp_path / "rows.jsonl", [{"n": 1}, {"n": None}])
    checked(tmp_path, "a")
    assert (tmp_path / "rows.jsonl").read_text() == '{"n": 1}\n{"n": null}\n'


def test_another_run_is_replaced_only_by_force(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text('{"run": "a"}')
    with pytest.raises(FileExistsError, match=r"a test of another run \(a, this is b\)"):
        checked(tmp_path, "b")
    checked(tmp_path, "b", force=True)


@pytest.mark.parametrize("report", ["[1]", "{", "\udcff", "[" * 100_000])
def test_what_is_no_report_is_something_else(tmp_path: Path, report: str) -> None:
    (tmp_path / "report.json").write_bytes(report.encode(errors="surrogateescape"))
    with pytest.raises(FileExistsError, match="something else than a test"):
        checked(tmp_path, "a", force=True)


def test_a_file_beside_what_is_ours_is_not_thrown_away(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text('{"run": "a"}')
    (tmp_path / "diary.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="something else than a test"):
        checked(tmp_path, "a", force=True)
    with pytest.raises(FileExistsError, match="something else than a test"):
        checked(tmp_path / "diary.txt", "a")
