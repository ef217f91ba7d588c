"""Cells of an experiment are run: claims, results and leaderboard."""

import csv
import io
import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from looping import for_each

from judgesmith import InputError
from judgesmith.experiments.compile.chosen_targets import chosen_targets
from judgesmith.experiments.compile.split import parts_of
from judgesmith.experiments.runs import RunFolder, RunModels, run_cells
from judgesmith.experiments.runs.cell_result import Estimated
from judgesmith.experiments.runs.cell_runner import CellMaker
from judgesmith.experiments.runs.claims import claim_cell
from judgesmith.experiments.runs.folder import Made
from judgesmith.experiments.runs.heldout import places_held_out, table_of_rows
from judgesmith.experiments.runs.leaderboard import (
    COLUMNS,
    csv_text,
    latex,
    leaderboard,
    markdown,
    over_seeds,
)
from judgesmith.experiments.specs import cells_of, read_sets, settings_of, spec_of
from judgesmith.experiments.tables import latex_cell
from judgesmith.programs.lm import lm_client_of

# claims

HOLDER = """
import fcntl, sys, time
with open(sys.argv[1], "w") as file:
    fcntl.flock(file, fcntl.LOCK_EX)
    print(True, flush=True)
    time.sleep(60)
"""


def test_a_claim_keeps_others_out_until_it_is_given_up(tmp_path):
    place = tmp_path / "one"
    with claim_cell(place) as mine:
        assert mine
        with claim_cell(place) as theirs:
            assert not theirs
        assert place.exists()
    with claim_cell(place) as mine:
        assert mine
    assert list(tmp_path.iterdir()) == []


def test_a_claim_dies_with_its_owner(tmp_path):
    place = tmp_path / "one"
    call = [sys.executable, "-c", HOLDER, str(place)]
    with subprocess.Popen(call, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout.readline() == "True\n"
        with claim_cell(place) as mine:
            assert not mine
        os.kill(owner.pid, signal.SIGKILL)
        owner.wait()
        with claim_cell(place) as mine:
            assert mine


# folder

_FOLDERS = ("cells", "claims")
OTHER = "name: other\ndata: {answers: {path: sample}}\njudges: {plain: {judge: direct}}\nseeds: [7]"


def test_another_run_is_refused_unless_it_may_go(spec, tmp_path):
    folder = RunFolder.of_spec(tmp_path / "run", spec)
    cell = cells_of(spec)[0]
    folder.fail(cell, "no luck", kind="ValueError")
    folder.ledger.write_text("answers")
    other = spec_of(OTHER)
    with pytest.raises(FileExistsError, match=f"another specification .{spec.fingerprint}, this"):
        RunFolder.of_spec(tmp_path / "run", other)
    assert folder.failure(cell).reason == "no luck"
    RunFolder.of_spec(tmp_path / "run", other, overwrite=True)
    assert folder.failure(cell) is None
    assert folder.ledger.read_text() == "answers"


def test_a_run_that_somebody_is_at_work_on_is_not_replaced(spec, tmp_path):
    folder = RunFolder.of_spec(tmp_path / "run", spec)
    cell = cells_of(spec)[0]
    with (
        claim_cell(folder.claim_of(cell)),
        pytest.raises(FileExistsError, match="a process is at work on it; wait for its end"),
    ):
        RunFolder.of_spec(tmp_path / "run", spec_of(OTHER), overwrite=True)
    folder.fail(cell, "no luck", kind="ValueError")
    other = RunFolder.of_spec(tmp_path / "run", spec_of(OTHER), overwrite=True)
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
            RunFolder.of_spec(tmp_path, spec, overwrite=force)


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
        ('{"schema": 1}', "target was changed after it was written"),
        (json.dumps(_RESULT | {"per_item": None}), "per_item was changed after it was written"),
        (json.dumps(_RESULT | {"per_item": {}}), "per_item.calls was changed after it was written"),
        (
            json.dumps(_RESULT | {"rows": {"heldout": -1, "unscored": 0}}),
            "rows.heldout was changed",
        ),
        (json.dumps(_RESULT | {"scale": [0]}), "scale.1 was changed after it was written"),
        (
            json.dumps(_RESULT | {"agreement": {"heldout": {"dataset": {"q": {"value": "1"}}}}}),
            "agreement.heldout.dataset.q.value was changed after it was written",
        ),
        (
            json.dumps(_RESULT | {"agreement": {"heldout": {"dataset": {"q": 1}}}}),
            "heldout.dataset.q was changed",
        ),
    ],
)
def test_a_result_that_was_changed_is_told_and_how_to_mend_it(spec, tmp_path, result, why):
    folder = RunFolder.of_spec(tmp_path / "run", spec)
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
        ([_ROW, _ROW | {"score": "3"}], "line 2 was changed after it was written"),
        ([_ROW, _ROW | {"score": float("nan")}], "line 2 was changed after it was written"),
        ([_ROW, _ROW | {"human": 10**400}], "line 2 was changed after it was written"),
        ([{"score": 3}, _ROW], "line 1 was changed after it was written"),
        ([_ROW, "torn"], "line 2 was changed after it was written"),
    ],
)
def test_scores_that_are_not_those_of_the_result_are_refused(spec, tmp_path, rows, why):
    folder = RunFolder.of_spec(tmp_path / "run", spec)
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


# leaderboard


@pytest.fixture(scope="module")
def board(spec, done):
    return leaderboard(spec, done)


def test_cells_stand_by_q_and_differ_from_the_first(board, done):
    first = board.blocks[0]
    assert [block.level for block in board.blocks] == ["dataset", "sample", "system"]
    values = [line.value for line in first.cells]
    assert values == sorted(values, reverse=True)
    assert {line.judge for line in first.cells} == {"plain", "coarse", "theirs", "both"}
    best, *others = first.cells
    assert (best.difference, best.p_holm) == (None, None)
    for line in others:
        assert line.difference.n <= 24
        assert line.p_holm >= line.difference.p_value
    theirs = next(line for line in first.cells if line.judge == "theirs")
    assert theirs.unscored == pytest.approx(1 - theirs.q.n / 24)
    assert theirs.difference.n == theirs.q.n
    assert theirs.difference.value == pytest.approx(
        theirs.difference.first - theirs.difference.second
    )


def test_all_forms_say_the_same(board, done):
    board.write(done)
    found = json.loads((done.path / "leaderboard.json").read_text())
    assert found == json.loads(json.dumps(board.to_dict()))
    rows = list(csv.DictReader(io.StringIO(csv_text(board))))
    assert tuple(rows[0]) == COLUMNS
    assert len(rows) == sum(len(block.cells) for block in board.blocks)
    flat = [line for block in found["blocks"] for line in block["cells"]]
    assert [float(row["q"]) for row in rows] == [line["q"]["value"] for line in flat]
    for row, line in zip(rows, flat, strict=True):
        q, gain = line["q"], line["difference"]
        assert [row[one] for one in ("n_systems", "n_undefined", "n_sources", "confidence")] == [
            str(one)
            for one in (line["n_systems"], q["n_undefined"], q["n_groups"], q["confidence"])
        ]
        assert row["difference_n"] == ("" if gain is None else str(gain["n"]))
    for text in (markdown(board), latex(board)):
        for line in board.blocks[0].cells:
            assert f"{line.value:.3f}" in text
    assert (done.path / "leaderboard.md").read_text() == markdown(board)


def test_several_seeds_have_a_mean_and_a_spread_in_every_form(board):
    seeds = several_seeds(board)
    dataset = seeds.over_seeds[0]
    assert (dataset.level, dataset.seeds) == ("dataset", (0, 1))
    by_judge = {line.judge: line for line in dataset.cells}
    first = {line.judge: line.value for line in board.blocks[0].cells}
    for name, value in first.items():
        assert by_judge[name].q.mean == pytest.approx(value + 0.5 * (name == "coarse"))
        assert by_judge[name].q.sd == pytest.approx(2**0.5 / 2 * (name == "coarse"))
    best, *others = dataset.cells
    assert (best.difference, others[0].difference.n_seeds) == (None, 2)
    assert others[0].difference.mean == pytest.approx(others[0].q.mean - best.q.mean)
    assert seeds.to_dict()["over_seeds"][0]["cells"][0]["q"]["mean"] == best.q.mean
    rows = list(csv.DictReader(io.StringIO(csv_text(seeds))))
    assert tuple(rows[0])[: len(COLUMNS)] == COLUMNS
    means = [row for row in rows if row["seed"] == "mean"]
    assert len(means) == sum(len(block.cells) for block in seeds.over_seeds)
    assert (float(means[0]["q"]), means[0]["n_seeds"]) == (best.q.mean, "2")
    for text in (markdown(seeds), latex(seeds)):
        assert "overall, dataset level, over 2 seeds" in text
        assert f"{best.q.mean:.3f}" in text


def test_a_seed_without_a_number_is_counted_and_left_out_of_the_mean(board):
    first, second = board.blocks[0], several_seeds(board).blocks[3]
    nothing = second.cells[0].model_copy(update={"q": Estimated(value=None)})
    lines = (nothing, *second.cells[1:-1])
    (found,) = over_seeds((first, second.model_copy(update={"cells": lines})))
    n_undefined = {line.judge: line.q.n_undefined for line in found.cells}
    gone = {second.cells[0].judge, second.cells[-1].judge}
    assert n_undefined == {name: int(name in gone) for name in n_undefined}
    assert all(line.q.sd is None for line in found.cells if line.judge in gone)


def several_seeds(board):
    """Return rankings by a second seed, too, in which one judge agrees better by 1."""

    def other(line):
        gain = 1.0 if line.judge == "coarse" else 0.0
        q = line.q.model_copy(update={"value": line.q.value + gain})
        return line.model_copy(update={"q": q})

    again = (
        block.model_copy(update={"seed": 1, "cells": tuple(map(other, block.cells))})
        for block in board.blocks
    )
    blocks = (*board.blocks, *again)
    return board.model_copy(update={"blocks": blocks, "over_seeds": over_seeds(blocks)})


@for_each("text", ["\\end{table}", "50% $x$", "a\nb", "é~^", '"[x]"'])
def test_nobodys_name_is_a_command_of_latex(text):
    shown = latex_cell(text)
    assert "\n" not in shown
    plain = shown
    assert "textquotedbl" not in shown  # which takes a package
    for mark in ("textbackslash", "textasciitilde", "textasciicircum"):
        plain = plain.replace(f"\\{mark}{{}}", "")
    for one in "\\%$#&_{}":
        plain = plain.replace(f"\\{one}", "")
    assert not set(plain.replace("{[}", "").replace("{]}", "")) & set("\\%$#&_^~")


# making


@pytest.fixture
def cells(spec):
    return {cell.judge: cell for cell in cells_of(spec)}


def test_every_cell_is_held_against_the_same_rows(spec, done, cells):
    rows = {name: [row["item"] for row in done.scores(cell)] for name, cell in cells.items()}
    assert len({tuple(one) for one in rows.values()}) == 1
    dataset = read_sets(spec)["answers"]
    settings = settings_of(spec, cells["plain"])
    targets = chosen_targets(dataset, settings)
    own = parts_of(dataset, targets, settings).heldout_places
    assert rows["theirs"] == own.tolist()
    found = places_held_out(dataset, targets.whole, holdout=spec.holdout, seed=0)
    assert found.tolist() == own.tolist()


def test_scores_on_record_that_are_missing_are_unscored_and_counted(done, cells):
    found = done.result(cells["theirs"])
    rows = done.scores(cells["theirs"])
    missing = [row for row in rows if row["item"] % 5 == 0]
    assert [row["score"] for row in missing] == [None] * len(missing)
    assert found["rows"]["unscored"] == len(missing) > 0
    assert sum(found["problems"].values()) == len(missing)
    assert found["agreement"]["heldout"]["dataset"]["q"]["n"] == len(rows) - len(missing)
    assert found["per_item"] == {"calls": None, "usd": None}
    assert found["judge"] == "them"


def test_a_panel_says_the_mean_of_what_its_members_say_as_shares(done, cells):
    results = {name: done.result(cells[name]) for name in ("plain", "coarse", "both")}
    shares = []
    for name in ("plain", "coarse"):
        low, high = results[name]["scale"]
        values = table_of_rows(done.scores(cells[name])).predicted
        shares.append((values - low) / (high - low))
    found = table_of_rows(done.scores(cells["both"])).predicted
    assert found == pytest.approx(np.mean(shares, axis=0))
    assert results["both"]["per_item"]["calls"] == 2.0
    assert results["both"]["usage"]["calls"] == 0


def test_a_result_holds_nothing_of_the_hour(spec, done, tmp_path, cells):
    again = RunFolder.of_spec(tmp_path / "run", spec)
    run_cells(spec, again)
    for cell in cells.values():
        for name in ("result.json", "scores.jsonl"):
            one, other = (folder.place_of(cell) / name for folder in (done, again))
            assert one.read_bytes() == other.read_bytes()


def test_members_of_unlike_scales_make_no_panel_and_say_why(study, tmp_path):
    text = """
name: unlike
data:
  answers: {path: rated.jsonl, targets: [overall]}
judges:
  plain: {judge: direct}
  theirs: {recorded: theirs.jsonl, name: them}
  both: {panel: [plain, theirs]}
optimizers: {none: {}}
"""
    spec = spec_of(text, folder=str(study))
    found = run_cells(spec, RunFolder.of_spec(tmp_path / "run", spec))
    assert [cell.judge for cell in found.finished] == ["plain", "theirs"]
    (reason,) = found.failed.values()
    assert "the scale of the scores of answers.overall.theirs.0 is unknown" in reason


def test_a_stated_scale_and_least_number_of_members_make_a_panel_of_record_and_judge(
    study, tmp_path
):
    text = """
name: mixed
data:
  answers: {path: rated.jsonl, targets: [overall]}
judges:
  plain: {judge: direct}
  theirs: {recorded: theirs.jsonl, name: them, scale: "0..9,overall=1..5"}
  half: {panel: [plain, theirs]}
  whole: {panel: [plain, theirs], at_least: 2}
optimizers: {none: {}}
holdout: 0.5
"""
    spec = spec_of(text, folder=str(study))
    folder = RunFolder.of_spec(tmp_path / "run", spec)
    assert run_cells(spec, folder).complete
    cells = {cell.judge: cell for cell in cells_of(spec)}
    found = {name: folder.result(cell) for name, cell in cells.items()}
    assert found["theirs"]["scale"] == [1, 5]
    assert found["half"]["rows"]["unscored"] == 0
    assert found["whole"]["rows"]["unscored"] == found["theirs"]["rows"]["unscored"] > 0
    tables = {name: table_of_rows(folder.scores(cell)).predicted for name, cell in cells.items()}
    low, high = found["plain"]["scale"]
    shares = [(tables["plain"] - low) / (high - low), (tables["theirs"] - 1) / 4]
    assert tables["whole"] == pytest.approx(np.mean(shares, axis=0), nan_ok=True)


# running

TWO = """
name: two
data: {answers: {path: rated.jsonl, targets: [overall]}}
judges: {plain: {judge: direct}, coarse: {variant: coarse}, both: {panel: [plain, coarse]}}
optimizers: {none: {}}
holdout: 0.5
"""


@pytest.fixture
def two(study):
    return spec_of(TWO, folder=str(study))


def files_of(folder):
    """Return what decides: all files of cells but what they took this time."""
    return {
        str(path.relative_to(folder.path)): path.read_bytes()
        for path in sorted((folder.path / "cells").rglob("*"))
        if path.is_file() and path.name != "usage.json"
    }


def test_a_finished_cell_is_not_run_again(two, tmp_path, monkeypatch):
    folder = RunFolder.of_spec(tmp_path / "run", two)
    assert run_cells(two, folder).complete
    monkeypatch.setattr(CellMaker, "made", None)
    assert run_cells(two, RunFolder.of_spec(tmp_path / "run", two)).complete


def test_a_run_that_broke_off_ends_as_an_undisturbed_one(two, tmp_path, monkeypatch):
    whole = RunFolder.of_spec(tmp_path / "whole", two)
    models = RunModels(two, whole.ledger)
    run_cells(two, whole, models=models)
    calls = sum(lm_client_of(lm).usage.calls for lm in models.made)
    broken = RunFolder.of_spec(tmp_path / "broken", two)
    keep = RunFolder.keep

    def killed(self, cell, made):
        if cell.judge == "coarse":
            raise KeyboardInterrupt
        keep(self, cell, made)

    first = RunModels(two, broken.ledger)
    with monkeypatch.context() as patch:
        patch.setattr(RunFolder, "keep", killed)
        with pytest.raises(KeyboardInterrupt):
            run_cells(two, broken, models=first)
    assert list((broken.path / "claims").iterdir()) == []
    second = RunModels(two, broken.ledger)
    assert run_cells(two, broken, models=second).complete
    assert files_of(broken) == files_of(whole)
    paid = sum(lm_client_of(lm).usage.calls for models in (first, second) for lm in models.made)
    assert paid == calls


def test_a_budget_is_that_of_the_whole_run_and_more_of_it_goes_on(study, tmp_path):
    def declared(calls):
        return spec_of(f"{TWO}budget: {{calls: {calls}}}\n", folder=str(study))

    small = RunFolder.of_spec(tmp_path / "run", declared(60))
    found = run_cells(declared(60), small)
    assert [cell.judge for cell in found.finished] == ["plain"]
    assert "the budget ended" in found.unfinished["answers.overall.coarse.none.offline.0"]
    assert "its member" in found.unfinished["answers.overall.both.none.offline.0"]
    assert not found.failed
    more = declared(1000)
    folder = RunFolder.of_spec(tmp_path / "run", more)
    models = RunModels(more, folder.ledger)
    assert run_cells(more, folder, models=models).complete
    (lm,) = models.made
    assert lm_client_of(lm).spent.calls == 96
    assert lm_client_of(lm).usage.calls == 36


def test_a_cell_that_fails_says_why_and_is_tried_again(two, tmp_path, monkeypatch):
    made = CellMaker.made

    def failing(self, cell):
        if cell.judge == "plain":
            raise InputError("the rows are of\nno use.")
        return made(self, cell)

    folder = RunFolder.of_spec(tmp_path / "run", two)
    told = []
    with monkeypatch.context() as patch:
        patch.setattr(CellMaker, "made", failing)
        found = run_cells(two, folder, told=lambda *one: told.append(one))
    plain, _, both = cells_of(two)
    assert found.failed == {
        plain.id: "the rows are of no use.",
        both.id: f"its member {plain.id} has no scores",
    }
    assert [(cell.judge, state) for cell, state, _ in told] == [
        ("plain", "failed"),
        ("coarse", "finished"),
        ("both", "failed"),
    ]
    assert folder.failure(plain).kind == "InputError"
    log = [json.loads(line) for line in (folder.path / "log.jsonl").read_text().splitlines()]
    assert [(one["cell"], one["state"]) for one in log[:2]] == [
        (plain.id, "begun"),
        (plain.id, "failed"),
    ]
    assert run_cells(two, folder).complete
    assert folder.failure(plain) is None


def test_a_cell_that_somebody_else_is_at_is_waited_for(two, tmp_path, monkeypatch):
    folder = RunFolder.of_spec(tmp_path / "run", two)
    plain, coarse, both = cells_of(two)
    elsewhere = claim_cell(folder.claim_of(plain))
    assert elsewhere.__enter__()
    naps = []

    def sleep(seconds):
        naps.append(seconds)
        assert folder.is_finished(coarse)
        assert not folder.is_finished(both)
        elsewhere.__exit__(None, None, None)

    monkeypatch.setattr("judgesmith.experiments.runs.running.time.sleep", sleep)
    assert run_cells(two, folder).complete
    assert len(naps) == 1


def test_each_cell_costs_the_same_however_many_there_are(study, tmp_path, monkeypatch):
    """Steps of Python and characters of JSON, counted: a run is linear in its cells."""
    monkeypatch.setattr(
        CellMaker,
        "made",
        lambda self, cell: Made(
            result={"rows": {"heldout": 0, "unscored": 0}}, scores=[], saved=None, usage={}
        ),
    )
    loads = json.loads

    def steps(n_seeds):
        spec = spec_of(f"{TWO}seeds: {list(range(n_seeds))}\n", folder=str(study))
        folder = RunFolder.of_spec(tmp_path / str(n_seeds), spec)
        models, sets = RunModels(spec, folder.ledger), read_sets(spec)
        found = 0

        def count(*_):
            nonlocal found
            found += 1

        def reading(text, **options):
            nonlocal found
            found += len(text)
            return loads(text, **options)

        with monkeypatch.context() as patch:
            patch.setattr(json, "loads", reading)
            sys.setprofile(count)
            try:
                done = run_cells(spec, folder, models=models, sets=sets)
            finally:
                sys.setprofile(None)
        assert len(done.finished) == 3 * n_seeds
        return found

    steps(1)  # what is loaded or cached once
    few, many = steps(6), steps(48)
    assert many < 10 * few
