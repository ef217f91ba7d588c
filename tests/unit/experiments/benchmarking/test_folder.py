"""The folder of a benchmark: whole or not there, and nobody's answers are lost."""

import json

import pytest

from judgesmith.experiments.benchmark.report import (
    check_benchmark,
    put_report,
    read_benchmark,
    save_benchmark,
)

ROWS = [{"source_id": "1", "system_id": "c-0", "response": "é\u2028"}]


def save(folder, run="one", sheet=b"blank"):
    report = {"run": run, "perspective": "local"}
    save_benchmark(
        folder,
        rows=ROWS,
        report=report,
        text="# Report\n",
        sheet=sheet,
        sub_aspects="c: []\n",
        costs={},
        more={"references.jsonl": [{"id": "given-1"}]},
    )


def test_what_was_saved_is_read_back_from_the_folder_or_a_file_in_it(tmp_path):
    save(tmp_path / "made")
    for place in (tmp_path / "made", tmp_path / "made" / "benchmark.jsonl"):
        folder, report, rows = read_benchmark(place)
        assert (folder, report["run"], rows) == (tmp_path / "made", "one", ROWS)


def test_the_same_run_may_write_again_and_leaves_the_sheet_that_people_wrote_on(tmp_path):
    save(tmp_path / "made")
    (tmp_path / "made" / "spot_check.csv").write_bytes(b"answers")
    check_benchmark(tmp_path / "made", "one", force=False)
    save(tmp_path / "made")
    assert (tmp_path / "made" / "spot_check.csv").read_bytes() == b"answers"


def test_another_run_is_replaced_only_when_told_to_and_with_its_sheet(tmp_path):
    save(tmp_path / "made")
    with pytest.raises(FileExistsError, match=r"another run \(one, this is two\)"):
        check_benchmark(tmp_path / "made", "two", force=False)
    check_benchmark(tmp_path / "made", "two", force=True)
    save(tmp_path / "made", run="two", sheet=b"other")
    assert (tmp_path / "made" / "spot_check.csv").read_bytes() == b"other"


def test_what_is_no_benchmark_is_never_replaced(tmp_path):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    save(tmp_path / "more")
    (tmp_path / "more" / "notes.txt").write_text("mine")
    for name in ("file", "folder", "more"):
        with pytest.raises(FileExistsError, match="something else than a benchmark"):
            check_benchmark(tmp_path / name, "one", force=True)
    for name in ("file", "folder", "nowhere"):
        with pytest.raises(ValueError, match="is no benchmark"):
            read_benchmark(tmp_path / name)


def test_a_report_is_replaced_in_its_place(tmp_path):
    save(tmp_path / "made")
    put_report(tmp_path / "made", {"run": "one", "perspective": "local", "n": 1}, "# New\n")
    assert json.loads((tmp_path / "made" / "report.json").read_text())["n"] == 1
    assert (tmp_path / "made" / "report.md").read_text() == "# New\n"
