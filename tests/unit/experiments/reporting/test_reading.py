import json
import shutil
from dataclasses import replace

import pytest

from judgesmith import InputError
from judgesmith.experiments.report import read_run
from judgesmith.experiments.report.page import warnings_of

PLAIN = "answers.overall.plain.none.offline.0"


@pytest.fixture
def copied(study, tmp_path):
    return shutil.copytree(study / "run", tmp_path / "run")


def rewrite(place, change):
    content = json.loads(place.read_text("utf-8"))
    change(content)
    place.write_text(json.dumps(content), "utf-8")


def test_a_run_is_read_with_its_rankings_cells_rows_and_questions(reported):
    assert len(reported.cells) == 3
    assert reported.unranked == ()
    cell = reported.cells[PLAIN]
    assert len(cell.rows) == cell.result.rows.heldout
    assert any(line.startswith("task: ") for line in cell.asks)
    assert cell.title == "plain · none · offline on answers: overall, seed 0"
    assert reported.board.blocks[0].level == "dataset"


def test_a_folder_without_a_run_or_without_rankings_is_refused(copied, tmp_path):
    with pytest.raises(FileNotFoundError, match="is no folder that 'judgesmith experiment' made"):
        read_run(tmp_path)
    (copied / "leaderboard.json").unlink()
    with pytest.raises(FileNotFoundError, match=r"has no leaderboard.json yet; wait for its run"):
        read_run(copied)


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("run.json", "restore it"),
        ("leaderboard.json", "give the command"),
        (f"cells/{PLAIN}/result.json", f"remove the folder .*{PLAIN}, and the command"),
        (f"cells/{PLAIN}/scores.jsonl", f"remove the folder .*{PLAIN}, and the command"),
    ],
)
@pytest.mark.parametrize("text", ["[]", "{", "\udcff", "[" * 100_000, '{"score": NaN}'])
def test_a_file_that_was_changed_is_named(copied, name, remedy, text):
    (copied / name).write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(InputError, match=f"; {remedy}") as caught:
        read_run(copied)
    assert name.rpartition("/")[2] in str(caught.value)


def test_rows_that_are_fewer_than_the_result_states_are_refused(copied):
    place = copied / "cells" / PLAIN / "scores.jsonl"
    place.write_text(place.read_text().partition("\n")[2])
    with pytest.raises(InputError, match=r"scores.jsonl: it has \d+ rows, and .*; remove the"):
        read_run(copied)


def test_an_id_leads_nowhere_but_to_its_own_folder(copied):
    def change(content):
        content["cells"][0]["id"] = "../../elsewhere"

    rewrite(copied / "run.json", change)
    with pytest.raises(ValueError, match=r"not as it was written \(cells.0.id\)"):
        read_run(copied)


def test_rankings_of_another_run_are_refused(copied):
    rewrite(copied / "leaderboard.json", lambda content: content.update(run="0" * 12))
    with pytest.raises(ValueError, match="is that of another run"):
        read_run(copied)


def test_a_judge_that_cannot_be_read_is_said_and_the_rest_shown(copied):
    rewrite(copied / "cells" / PLAIN / "judge" / "judge.json", lambda one: one.update(model="x"))
    found = read_run(copied)
    assert found.cells[PLAIN].asks == ()
    assert any("cannot be read" in one for one in warnings_of(found))


def test_cells_that_failed_or_came_late_are_told_first(copied):
    def change(content):
        content["failed"] = {"a.b": "no key"}
        content["unfinished"] = {PLAIN: "the budget ended", "c.d": "the budget ended"}
        for block in content["blocks"]:
            block["cells"] = [one for one in block["cells"] if one["cell"] != PLAIN]

    rewrite(copied / "leaderboard.json", change)
    told = warnings_of(read_run(copied))
    assert told[0] == "a.b failed: no key"
    assert told[1] == "c.d is not finished: the budget ended"
    assert told[2].startswith(f"{PLAIN} ended after the rankings were made")


def test_warnings_are_of_unscored_rows_few_sources_and_the_offline_model(reported):
    told = "\n".join(warnings_of(reported))
    assert "rows held out have no score (" in told
    assert "6 sources are held out; intervals over so few are rough" in told
    assert "The offline model is a classical model" in told
    assert "chosen by" not in told


def test_what_holds_at_several_seeds_is_said_once(reported):
    first = reported.board.blocks[0]
    blocks = tuple(first.model_copy(update={"seed": seed}) for seed in (0, 2))
    board = reported.board.model_copy(update={"blocks": blocks})
    (told,) = (
        one for one in warnings_of(replace(reported, board=board)) if "sources are held out" in one
    )
    assert told.startswith("answers: overall, seeds 0, 2: 6 sources are held out; ")
