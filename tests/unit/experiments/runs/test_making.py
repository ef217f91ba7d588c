import json

import numpy as np
import pytest

from judgesmith.data.score_files import read_scores
from judgesmith.experiments.compile.chosen_targets import chosen_targets
from judgesmith.experiments.compile.split import parts_of
from judgesmith.experiments.runs import RunFolder, run_cells
from judgesmith.experiments.runs.heldout import places_held_out, table_of_rows
from judgesmith.experiments.specs import cells_of, read_sets, settings_of, spec_of
from judgesmith.programs.artifacts.saved import SavedJudge


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


def test_a_result_says_what_compile_says(done, cells):
    found = done.result(cells["plain"])
    saved = SavedJudge.load(done.place_of(cells["plain"]) / "judge")
    assert found["agreement"] == saved.agreement.plain
    assert found["judge"] == saved.fingerprint
    assert found["rows"]["heldout"] == saved.rows["heldout"] == 24
    assert found["cell"] == cells["plain"].to_dict()
    assert found["per_item"] == {"calls": 1.0, "usd": 0.0}
    assert set(found["usage"]) == {"calls", "recorded", "tokens", "usd", "seconds"}
    assert found["besides"]["kappa"] is not None


def test_rows_of_a_cell_are_scores_that_other_commands_read(spec, done, cells):
    dataset = read_sets(spec)["answers"]
    place = done.place_of(cells["plain"]) / "scores.jsonl"
    scores = read_scores(place, dataset)
    rows = done.scores(cells["plain"])
    assert np.isfinite(scores.values).sum() == len(rows)
    assert [scores.values[row["item"]] for row in rows] == [row["score"] for row in rows]


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
    again = RunFolder.opened(tmp_path / "run", spec)
    run_cells(spec, again)
    for cell in cells.values():
        for name in ("result.json", "scores.jsonl"):
            one, other = (folder.place_of(cell) / name for folder in (done, again))
            assert one.read_bytes() == other.read_bytes()


def test_members_of_unlike_scales_make_no_panel_and_say_why(study, tmp_path):
    text = json.dumps(
        {
            "name": "unlike",
            "data": {"answers": {"path": "rated.jsonl", "targets": ["overall"]}},
            "judges": {
                "plain": {"judge": "direct"},
                "theirs": {"recorded": "theirs.jsonl", "name": "them"},
                "both": {"panel": ["plain", "theirs"]},
            },
            "optimizers": {"none": {}},
        }
    )
    spec = spec_of(text, folder=str(study))
    folder = RunFolder.opened(tmp_path / "run", spec)
    found = run_cells(spec, folder)
    assert [cell.judge for cell in found.finished] == ["plain", "theirs"]
    (reason,) = found.failed.values()
    assert "nobody knows what the scores of answers.overall.theirs.0 are points of" in reason


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
    folder = RunFolder.opened(tmp_path / "run", spec)
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


def test_perspectives_are_reported_of_the_rows_held_out_or_why_not(study, tmp_path):
    text = """
name: both ways
data:
  answers: {path: rated.jsonl, targets: [overall, mean]}
judges: {plain: {judge: direct}}
optimizers: {none: {}}
perspectives: [global, local]
"""
    spec = spec_of(text, folder=str(study))
    folder = RunFolder.opened(tmp_path / "run", spec)
    overall, mean = (folder.result(cell) for cell in run_cells(spec, folder).finished)
    for name in ("global", "local"):
        found = overall["perspectives"][name]
        assert found["perspective"] == name
        assert "overall" in found.get("criteria", {}) or "undisputed" in found["problem"]
        assert mean["perspectives"][name]["problem"].startswith("nobody rated 'mean'")
