import json

import pytest

from judgesmith.experiments.runs import RunFolder, check_run
from judgesmith.experiments.runs.claims import claimed
from judgesmith.experiments.runs.folder import Made
from judgesmith.experiments.runs.leaderboard import leaderboard
from judgesmith.experiments.specs import cells_of, spec_of

_FOLDERS = ("cells", "claims")
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


def test_a_run_that_somebody_is_at_work_on_is_not_replaced(spec, tmp_path):
    folder = RunFolder.opened(tmp_path / "run", spec)
    cell = cells_of(spec)[0]
    with (
        claimed(folder.claim_of(cell)),
        pytest.raises(FileExistsError, match="a process is at work on it; wait for its end"),
    ):
        RunFolder.opened(tmp_path / "run", spec_of(OTHER), overwrite=True)
    folder.fail(cell, "no luck", kind="ValueError")
    other = RunFolder.opened(tmp_path / "run", spec_of(OTHER), overwrite=True)
    for late in (
        lambda: folder.fail(cell, "late", kind="ValueError"),
        lambda: folder.keep(cell, Made(result={}, scores=(), saved=None, usage={})),
        lambda: leaderboard(spec, folder).write(folder),
    ):
        with pytest.raises(FileExistsError, match="holds the run of another specification"):
            late()
    assert {one.name for one in other.path.iterdir()} == {"run.json", "spec.yaml", *_FOLDERS}
    assert not list((other.path / "cells").iterdir())


def test_what_is_no_run_is_left_alone(spec, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    for force in (False, True):
        with pytest.raises(FileExistsError, match="holds no experiment; name another folder"):
            RunFolder.opened(tmp_path, spec, overwrite=force)


_ROW = {"score": 3, "human": 2.0, "problem": None, "system_id": "a", "item": 0, "group": 0}
_RESULT = {
    "schema": 1,
    "cell": {},
    "target": "overall",
    "human_scale": "1..5",
    "scale": None,
    "problems": {},
    "judge": "plain",
    "model": None,
    "notes": [],
    "rows": {"heldout": 2, "unscored": 0},
    "agreement": {"heldout": None},
    "per_item": {"calls": None, "usd": None},
}


@pytest.mark.parametrize(
    ("result", "why"),
    [
        ("{", "no JSON can be read in it"),
        ("[" * 100_000, "no JSON can be read in it"),
        ("[]", "it holds no JSON object"),
        ('{"schema": 99}', "it is no result of this version"),
        ('{"schema": 1}', "target is not as it was written"),
        (json.dumps(_RESULT | {"per_item": None}), "per_item is not as it was written"),
        (json.dumps(_RESULT | {"per_item": {}}), "per_item.calls is not as it was written"),
        (json.dumps(_RESULT | {"rows": {"heldout": -1, "unscored": 0}}), "rows.heldout is not"),
        (json.dumps(_RESULT | {"scale": [0]}), "scale.1 is not as it was written"),
        (
            json.dumps(_RESULT | {"agreement": {"heldout": {"dataset": {"q": {"value": "1"}}}}}),
            "agreement.heldout.dataset.q.value is not as it was written",
        ),
        (
            json.dumps(_RESULT | {"agreement": {"heldout": {"dataset": {"q": 1}}}}),
            "heldout.dataset.q is not",
        ),
    ],
)
def test_a_result_that_was_changed_is_told_and_how_to_mend_it(spec, tmp_path, result, why):
    folder = RunFolder.opened(tmp_path / "run", spec)
    cell = cells_of(spec)[0]
    place = folder.place_of(cell)
    place.mkdir()
    (place / "result.json").write_text(result)
    for read in (folder.result, folder.scores):
        with pytest.raises(ValueError, match=f"{why}.*; remove the folder") as fault:
            read(cell)
        assert str(fault.value).startswith(str(place / "result.json"))


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([_ROW], "it has 1 rows, and the result of its cell 2"),
        ([_ROW] * 3, "it has 3 rows, and"),
        ([_ROW, _ROW | {"score": None}], "1 rows have no score, and 0 by the result"),
        ([_ROW, _ROW | {"score": "3"}], "line 2 is not as it was written"),
        ([_ROW, _ROW | {"score": float("nan")}], "line 2 is not as it was written"),
        ([_ROW, _ROW | {"human": 10**400}], "line 2 is not as it was written"),
        ([{"score": 3}, _ROW], "line 1 is not as it was written"),
        ([_ROW, "torn"], "line 2 is not as it was written"),
    ],
)
def test_scores_that_are_not_those_of_the_result_are_refused(spec, tmp_path, rows, why):
    folder = RunFolder.opened(tmp_path / "run", spec)
    cell = cells_of(spec)[0]
    place = folder.place_of(cell)
    place.mkdir()
    (place / "result.json").write_text(json.dumps(_RESULT))
    with pytest.raises(ValueError, match=r"scores.jsonl: the file is gone; remove the folder"):
        folder.scores(cell)
    text = "".join(f"{row if row == 'torn' else json.dumps(row)}\n" for row in rows)
    (place / "scores.jsonl").write_text(text)
    with pytest.raises(ValueError, match=rf"scores.jsonl: {why}.*; remove the folder"):
        folder.scores(cell)
    (place / "scores.jsonl").write_text(2 * f"{json.dumps(_ROW)}\n")
    assert folder.scores(cell) == [_ROW, _ROW]
