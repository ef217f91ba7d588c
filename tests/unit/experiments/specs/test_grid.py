"""The cells of a specification: each once, named for a folder, panels after their members."""

import re

import pytest

from judgesmith.experiments.specs import Spec, cells_of

SAMPLE = {"answers": {"path": "sample"}}


def spec(**fields):
    return Spec.model_validate(
        {"name": "grid", "data": SAMPLE, "judges": {"fine": {}}, "optimizers": {"none": {}}}
        | fields
    )


def ids(found):
    return [cell.id for cell in cells_of(found)]


def test_everything_meets_everything():
    found = spec(
        data={"a": {"path": "sample", "targets": ["fluency", "overall"]}, "b": {"path": "sample"}},
        judges={"fine": {}, "coarse": {"variant": "coarse"}},
        optimizers={"none": {}, "random": {}},
        models={"offline": {}, "small": {"model": "openai/m"}},
        seeds=[0, 1, 2],
    )
    cells = cells_of(found)
    assert len(cells) == len({cell.id for cell in cells}) == 3 * 2 * 2 * 2 * 3
    assert cells[0].id == "a.fluency.fine.none.offline.0"
    assert cells[-1].id == "b.auto.coarse.random.small.2"


def test_scores_on_record_have_a_cell_per_seed_and_nothing_else():
    found = spec(
        judges={"gpt": {"recorded": "a.jsonl"}}, optimizers={"none": {}, "random": {}}, seeds=[0, 1]
    )
    assert ids(found) == ["answers.auto.gpt.0", "answers.auto.gpt.1"]
    assert {(cell.optimizer, cell.model) for cell in cells_of(found)} == {(None, None)}


def test_a_judge_with_a_model_of_its_own_meets_no_other():
    models = {"a": {"model": "openai/a"}, "b": {"model": "openai/b"}}
    found = spec(judges={"fine": {}, "own": {"model": "b"}}, models=models)
    assert ids(found) == [
        "answers.auto.fine.none.a.0",
        "answers.auto.fine.none.b.0",
        "answers.auto.own.none.b.0",
    ]


def test_a_panel_follows_its_members_with_their_optimizer_model_and_seed():
    judges = {"both": {"panel": ["fine", "coarse"]}, "fine": {}, "coarse": {"variant": "coarse"}}
    cells = cells_of(spec(judges=judges, optimizers={"none": {}, "random": {}}, seeds=[0, 1]))
    assert [cell.judge for cell in cells] == ["fine"] * 4 + ["coarse"] * 4 + ["both"] * 4
    assert cells[-1].members == (
        "answers.auto.fine.random.offline.1",
        "answers.auto.coarse.random.offline.1",
    )


def test_a_panel_over_models_has_none_of_its_own():
    models = {"a": {"model": "openai/a"}, "b": {"model": "openai/b"}}
    judges = {"one": {"model": "a"}, "two": {"model": "b"}, "both": {"panel": ["one", "two"]}}
    panel = cells_of(spec(judges=judges, models=models))[-1]
    assert (panel.id, panel.model) == ("answers.auto.both.none.0", None)
    assert panel.members == ("answers.auto.one.none.a.0", "answers.auto.two.none.b.0")


def test_a_panel_may_hold_scores_on_record_and_panels():
    judges = {
        "gpt": {"recorded": "a.jsonl"},
        "llama": {"recorded": "b.jsonl"},
        "on-record": {"panel": ["gpt", "llama"], "score": "median"},
        "fine": {},
        "all": {"panel": ["on-record", "fine"]},
    }
    cells = {cell.judge: cell for cell in cells_of(spec(judges=judges))}
    assert cells["on-record"].optimizer is None
    assert cells["all"].members == ("answers.auto.on-record.0", "answers.auto.fine.none.offline.0")


def test_what_is_left_out_takes_its_panels_with_it():
    judges = {"fine": {}, "plain": {"judge": "direct"}, "both": {"panel": ["fine", "plain"]}}
    found = spec(judges=judges, seeds=[0, 1], leave_out=[{"judge": "plain", "seed": 1}])
    assert ids(found) == [
        "answers.auto.fine.none.offline.0",
        "answers.auto.fine.none.offline.1",
        "answers.auto.plain.none.offline.0",
        "answers.auto.both.none.offline.0",
    ]


def test_ids_are_names_for_folders_whatever_entries_are_called():
    names = ["a/b", "A b", "../x", "é", "ü", "x" * 80, "x" * 79 + "y", "\u202eevil", "🙂"]
    judges = {name: {"judge": "direct"} for name in names}
    cells = cells_of(spec(judges=judges, data={"d" * 80: {"path": "sample"}}))
    assert len({cell.id for cell in cells}) == len(names)
    for cell in cells:
        assert re.fullmatch(r"[a-z0-9][a-z0-9.-]{0,119}", cell.id)


def test_panels_of_each_other_are_refused():
    judges = {"a": {"panel": ["b", "b2"]}, "b": {"panel": ["a", "b2"]}, "b2": {}}
    with pytest.raises(ValueError, match="made of each other"):
        cells_of(spec(judges=judges))


def test_panels_of_panels_of_panels_take_no_time():
    judges = {f"p{n}": {"panel": [f"p{m}" for m in range(n + 1, 28)]} for n in range(26)}
    cells = cells_of(spec(judges={**judges, "p26": {}, "p27": {}}))
    assert len(cells) == 28


def test_a_grid_that_nobody_could_run_is_refused():
    with pytest.raises(ValueError, match="up to 200,000 cells"):
        cells_of(spec(seeds=list(range(200_000))))
