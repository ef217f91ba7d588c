import json
import shutil

import pytest

from judgesmith.cli import main
from judgesmith.experiments.runs import RunFolder, run_cells
from judgesmith.experiments.runs.leaderboard import leaderboard
from judgesmith.experiments.specs import SpecError, cells_of, read_sets, spec_of

SPEC = """
name: saved
data: {answers: {path: rated.jsonl, targets: [overall]}}
judges:
  before: {saved: judge}
  named: {saved: judge, model: offline}
  plain: {judge: direct}
  all: {panel: [before, plain]}
optimizers: {none: {}}
holdout: 0.5
"""


@pytest.fixture(scope="module")
def place(study, tmp_path_factory):
    """A folder with the rows of the study, and a judge that was made of those not held out."""
    place = tmp_path_factory.mktemp("saved")
    shutil.copy(study / "rated.jsonl", place)
    made = ["compile", place / "rated.jsonl", "-o", place / "judge", "--judge", "direct"]
    options = ["--holdout", ".5", "--optimizer", "none", "--ledger", place / "ledger.sqlite"]
    assert main([str(one) for one in (*made, *options)]) == 0
    return place


@pytest.fixture(scope="module")
def spec(place):
    return spec_of(SPEC, folder=str(place))


@pytest.fixture(scope="module")
def done(spec, place):
    folder = RunFolder.of_spec(place / "run", spec, text=SPEC)
    assert run_cells(spec, folder).complete
    return folder


def test_a_saved_judge_says_what_it_said_when_it_was_compiled(spec, done, place):
    cells = {cell.judge: cell for cell in cells_of(spec)}
    assert (cells["before"].optimizer, cells["before"].model) == (None, None)
    assert (cells["named"].optimizer, cells["named"].model) == (None, "offline")
    found = {name: done.result(cell) for name, cell in cells.items()}
    made = json.loads((place / "judge" / "judge.json").read_text())
    assert found["before"]["agreement"]["heldout"]["dataset"]["q"]["value"] == pytest.approx(
        made["agreement"]["heldout"]["dataset"]["q"]["value"]
    )
    assert found["before"]["rows"]["heldout"] == made["rows"]["heldout"]
    assert found["before"]["judge"] == found["named"]["judge"]
    assert found["before"]["per_item"] == {"calls": 1.0, "usd": 0.0}
    assert found["before"]["model"] == "offline"
    saved = done.place_of(cells["before"]) / "judge" / "judge.json"
    assert saved.read_bytes() == (place / "judge" / "judge.json").read_bytes()
    scores = [done.scores(cells[name]) for name in ("before", "named", "plain")]
    assert [[row["score"] for row in one] for one in scores] == [
        [row["score"] for row in scores[0]]
    ] * 3
    lines = leaderboard(spec, done).blocks[0].cells
    assert {line.judge for line in lines} == {"before", "named", "plain", "all"}
    assert {line.p_holm for line in lines[1:]} == {1.0}


def test_rows_that_it_was_made_from_are_no_test_of_it(place):
    text = SPEC.replace("holdout: 0.5", "holdout: 0.5\nseeds: [3]")
    spec = spec_of(text, folder=str(place))
    found = run_cells(spec, RunFolder.of_spec(place / "other", spec, text=text))
    assert set(found.failed) == {
        "answers.overall.before.3",
        "answers.overall.named.offline.3",
        "answers.overall.all.none.offline.3",
    }
    why = found.failed["answers.overall.before.3"]
    assert "was made from the sources of" in why
    assert "rows that seed 3 holds out" in why


def test_it_is_part_of_what_the_specification_is(spec, place, tmp_path):
    shutil.copytree(place / "judge", tmp_path / "judge")
    shutil.copy(place / "rated.jsonl", tmp_path)
    assert spec_of(SPEC, folder=str(tmp_path)).fingerprint == spec.fingerprint
    other = tmp_path / "judge" / "judge.json"
    other.write_text(other.read_text().replace("overall", "everything"))
    changed = spec_of(SPEC, folder=str(tmp_path))
    assert changed.fingerprint != spec.fingerprint
    with pytest.raises(SpecError, match=r"judges\.before\.saved: .*judge"):
        read_sets(changed)


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ("{saved: judge, variant: fine}", "a saved judge is said by saved, model, and nothing"),
        ("{saved: judge, model: none}", "there is no model 'none'"),
        ("{saved: judge, recorded: a.jsonl}", "leave recorded out"),
    ],
)
def test_what_cannot_be_is_told(entry, says, place):
    with pytest.raises(SpecError, match=says):
        spec_of(SPEC.replace("{saved: judge}", entry), folder=str(place))
