"""Weights of a panel are learned from rows that no member has seen."""

import numpy as np
import pytest

from judgesmith.experiments import panelling, read_items
from judgesmith.experiments.evaluating import evaluate_judge
from judgesmith.experiments.panel_rows import PanelSettings, panel_parts
from judgesmith.experiments.panelling import learn_panel
from judgesmith.programs import ActiveCritic, Direct, SavedJudge
from judgesmith.programs.models import model, stack_of
from judgesmith.programs.panel import PanelJudgement
from judgesmith.signatures import Scale


@pytest.fixture(scope="module")
def data():
    return read_items("sample")


def saved(judge, seen=(), **update):
    parts = {
        "protocol": judge.protocol,
        "questions": judge.templates(),
        "model": "offline",
        "target": "overall",
        "human_scale": Scale(low=1, high=5),
        "seen": {"select": tuple(one.key for one in seen)},
    }
    return SavedJudge(**{**parts, **update})


@pytest.fixture
def members(data):
    return {
        "grades": saved(ActiveCritic(variant="vanilla"), data.items[:20]),
        "direct": saved(Direct(), data.items[10:40]),
    }


def test_rows_that_any_member_has_seen_are_left_out(data, members):
    parts = panel_parts(members, data, PanelSettings())
    assert parts.n_known == 40
    rows = [one.key for part in (parts.selection, parts.heldout) for one in part.items]
    assert set(rows) == {one.key for one in data.items[40:]}
    assert not set(parts.selection.groups) & set(parts.heldout.groups)


def test_nothing_need_be_held_out(data, members):
    found = learn_panel(members, data, PanelSettings(holdout=0))
    assert (found.heldout, found.gain, found.saved.golden) == (None, None, ())
    assert found.saved.rows["heldout"] == 0


def test_every_setting_is_part_of_the_run(data, members):
    usual = PanelSettings().fingerprint(members, data)
    changes = [{"seed": 1}, {"holdout": 0.5}, {"objective": "pearson"}, {"texts": False}]
    others = [PanelSettings(**one).fingerprint(members, data) for one in changes]
    others.append(PanelSettings().fingerprint(members, data.subset(range(100))))
    others.append(PanelSettings().fingerprint({"grades": members["grades"]}, data))
    assert len({usual, *others}) == 7


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda members, data: members.pop("direct"), "two judges or more; got grades"),
        (
            lambda members, data: members.update(direct=saved(Direct(), target="fluency")),
            "made for overall, fluency; say which ratings",
        ),
        (
            lambda members, data: members.update(direct=saved(Direct(), data.items[:140])),
            "there are 12 of 3, and 140 rows",
        ),
        (
            lambda members, data: members.update(direct=saved(Direct(), data.items)),
            "there are 0 of 0, and 160 rows",
        ),
    ],
    ids=["one", "targets", "few", "none"],
)
def test_what_makes_no_panel_is_refused_before_anything_is_asked(data, members, change, said):
    change(members, data)
    with pytest.raises(ValueError, match=said):
        panel_parts(members, data, PanelSettings())


def test_the_best_judge_is_told_beside_the_panel(data, members):
    found = learn_panel(members, data, PanelSettings(texts=False))
    assert found.best in members
    assert found.saved.settings["best_member"] == found.best
    q = found.gain["dataset"]["q"]
    assert q.first == found.heldout["dataset"]["q"].value
    assert q.second == found.best_member["dataset"]["q"].value
    assert [one["stage"] for one in found.saved.history] == ["panel"] * 3
    assert found.saved.golden == ()


def test_a_judge_that_scores_few_rows_is_not_told_as_the_best(data, members, monkeypatch):
    people = {item.key: item.human["overall"] for item in data}

    def said(panel, items, **_):
        sure = [float(np.mean(people[one.key])) for one in items]
        return [
            PanelJudgement(
                score=50,
                members={"grades": 50 + 9 * x + 5 * (n % 3), "direct": x if n % 4 == 0 else None},
            )
            for n, x in enumerate(sure)
        ]

    monkeypatch.setattr(panelling, "judge_items", said)
    found = learn_panel(members, data, PanelSettings(texts=False))
    assert found.best == "grades"
    assert "direct gave too few scores to be weighed" in " ".join(found.notes)


def test_effort_is_refused_before_anything_is_asked(data, members):
    lm = model(ledger=None)
    with pytest.raises(ValueError, match="leave calls out of the objective"):
        learn_panel(members, data, PanelSettings(objective="q - .1*calls"), lm=lm)
    assert stack_of(lm).usage.calls == 0


@pytest.mark.no_cover
def test_a_panel_is_evaluated_with_and_without_its_folder(data, members):
    found = learn_panel(members, data, PanelSettings(texts=False)).saved
    one = evaluate_judge(found, data, rng=np.random.default_rng(0))
    other = evaluate_judge(found.program(), data, rng=np.random.default_rng(0))
    assert (one.n_unseen, one.n_seen, other.n_unseen) == (36, 124, 160)
    assert one.target == other.target == "overall"


def test_one_judge_under_two_names_is_refused(data, members):
    twice = {**members, "again": members["direct"]}
    with pytest.raises(ValueError, match=r"direct and again are the same judge .*name each once"):
        learn_panel(twice, data)
