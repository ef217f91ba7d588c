import pytest

from judgesmith.experiments.runs import RunFolder, check_run
from judgesmith.experiments.specs import cells_of, spec_of

OTHER = "name: other\ndata: {answers: {path: sample}}\njudges: {plain: {judge: direct}}\nseeds: [7]"


def test_a_folder_holds_the_specification_as_it_was_given(spec, tmp_path):
    folder = RunFolder.opened(tmp_path / "run", spec, text="# mine\n")
    assert (folder.path / "spec.yaml").read_text() == "# mine\n"
    told = check_run(folder.path, spec.fingerprint)
    assert told["run"] == spec.fingerprint
    assert [one["id"] for one in told["cells"]] == [cell.id for cell in cells_of(spec)]


def test_another_run_is_refused_unless_it_may_go(spec, tmp_path):
    folder = RunFolder.opened(tmp_path / "run", spec)
    cell = cells_of(spec)[0]
    folder.fail(cell, "no luck", kind="ValueError")
    folder.ledger.write_text("answers")
    other = spec_of(OTHER)
    with pytest.raises(FileExistsError, match=f"another specification .{spec.fingerprint}, this"):
        RunFolder.opened(tmp_path / "run", other)
    assert folder.failure(cell).reason == "no luck"
    RunFolder.opened(tmp_path / "run", other, overwrite=True)
    assert folder.failure(cell) is None
    assert folder.ledger.read_text() == "answers"


def test_what_is_no_run_is_left_alone(spec, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    for force in (False, True):
        with pytest.raises(FileExistsError, match="holds no experiment; name another folder"):
            RunFolder.opened(tmp_path, spec, overwrite=force)


def test_a_result_that_was_changed_is_told_and_how_to_mend_it(spec, tmp_path):
    folder = RunFolder.opened(tmp_path / "run", spec)
    cell = cells_of(spec)[0]
    folder.place_of(cell).mkdir()
    (folder.place_of(cell) / "result.json").write_text('{"schema": 99}')
    (folder.place_of(cell) / "scores.jsonl").write_text("{")
    for read in (folder.result, folder.scores):
        with pytest.raises(ValueError, match="the cell is run again from the answers on record"):
            read(cell)
