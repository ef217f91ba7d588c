"""Weights of a panel are learned from rows that no member has seen."""

import dataclasses

import numpy as np
import pytest

from judgesmith.data import read_items
from judgesmith.experiments.evaluate.evaluating import evaluate_judge
from judgesmith.experiments.panel import panelling
from judgesmith.experiments.panel.panelling import estimate_judging, estimate_panel, learn_panel
from judgesmith.experiments.panel.rows import PanelSettings, panel_parts, panel_to_learn
from judgesmith.programs import ActiveCritic, DirectJudge, SavedJudge, SavedPanel, score_batch
from judgesmith.programs.families.ensemble.members import PanelJudgement
from judgesmith.programs.lm import lm_client_of, model
from judgesmith.signatures import Scale
from judgesmith.signatures.aggregation import PanelWeights


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
        "direct": saved(DirectJudge(), data.items[10:40]),
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
            lambda members, data: members.update(direct=saved(DirectJudge(), target="fluency")),
            "made for overall, fluency; say which ratings",
        ),
        (
            lambda members, data: members.update(direct=saved(DirectJudge(), data.items[:140])),
            "there are 12 of 3, and 140 rows",
        ),
        (
            lambda members, data: members.update(direct=saved(DirectJudge(), data.items)),
            "there are 0 of 0, and 160 rows",
        ),
    ],
    ids=["one", "targets", "few", "none"],
)
def test_what_makes_no_panel_is_refused_before_anything_is_asked(data, members, change, said):
    change(members, data)
    with pytest.raises(ValueError, match=said):
        panel_parts(members, data, PanelSettings())


def test_a_plain_mean_takes_too_few_ratings_and_none(data, members):
    bare = tuple(one.model_copy(update={"human": {}, "scale": {}}) for one in data)
    unrated = dataclasses.replace(data, items=bare)
    settings = PanelSettings(score="mean")
    found = learn_panel(members, unrated, settings)
    assert (found.best, found.selection, found.heldout) == (None, None, None)
    assert found.saved.rows["unrated"] == 160
    assert (found.saved.target, found.saved.human_scale) == ("overall", Scale(low=1, high=5))
    held = {one.item.key for one in found.saved.golden}
    assert (len(held), held & found.saved.seen_keys) == (20, set())
    said = score_batch(found.saved, [one.item for one in found.saved.golden])
    assert [one.score for one in said] == [one.judgement.score for one in found.saved.golden]
    with pytest.raises(ValueError, match=r"learning weights \(by q\) needs ratings"):
        learn_panel(members, unrated)
    other = {**members, "direct": saved(DirectJudge(), target="fluency")}
    assert learn_panel(other, unrated, settings).saved.target == "auto"
    members.update(direct=saved(DirectJudge(), data.items))
    seen = learn_panel(members, data, settings)
    assert (seen.selection, seen.saved.golden, seen.saved.rows["known"]) == (None, (), 160)
    assert "0 rated rows are too few to tell how well judges agree" in " ".join(seen.notes)
    with pytest.raises(ValueError, match=r"^to tell how judges agree takes 20 rated rows of 5"):
        panel_parts(members, data, PanelSettings(score="mean", subsets=True))


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

    monkeypatch.setattr(panelling, "score_batch", said)
    found = learn_panel(members, data, PanelSettings(texts=False))
    assert found.best == "grades"
    assert "direct gave too few scores to be weighed" in " ".join(found.notes)


def test_effort_is_refused_before_anything_is_asked(data, members):
    lm = model(ledger=None)
    with pytest.raises(ValueError, match="leave calls out of the objective"):
        learn_panel(members, data, PanelSettings(objective="q - .1*calls"), lm=lm)
    assert lm_client_of(lm).usage.calls == 0


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


def test_the_score_may_be_plain_and_who_merges_errors_is_part_of_what_is_saved(data, members):
    settings = PanelSettings(score="median", supervisor="offline", outliers="none")
    saved = learn_panel(members, data, settings).saved
    assert (saved.weights.weights, saved.weights.middle) == ((0.5, 0.5), "median")
    assert saved.rules.outliers == "none"
    assert saved.supervisor.model == "offline"
    assert saved.history == ()
    assert all(one.judgement.merged_by == "nobody" for one in saved.golden)
    assert list(PanelSettings(supervisor="rule").merging) == ["rules"]


def test_subsets_are_told_without_a_single_further_question(data, members):
    def calls(**settings):
        lm = model("offline", ledger=None)
        own = PanelSettings(holdout=0, score="mean", **settings)
        found = learn_panel(members, data.subset(range(40, 80)), own, lm=lm)
        return lm_client_of(lm).spent.calls, found

    plain, without = calls()
    told, found = calls(subsets=True)
    assert told == plain
    assert without.subsets is None
    assert {one.members for one in found.subsets.subsets} == {
        ("grades",),
        ("direct",),
        ("grades", "direct"),
    }
    kept = [one for one in found.saved.history if one["stage"] == "subset"]
    assert [tuple(one["members"]) for one in kept] == [one.members for one in found.subsets.subsets]
    assert found.subsets.n == found.saved.rows["select"]


def test_settings_that_are_new_change_the_run_and_old_ones_are_known(data, members):
    usual = PanelSettings()
    assert not {"score", "supervisor", "outliers", "subsets"} & set(usual.model_dump())
    changes = [{"score": "mean"}, {"supervisor": "rule"}, {"subsets": True}, {"outliers": "none"}]
    prints = {PanelSettings(**one).fingerprint(members, data) for one in ({}, *changes)}
    assert len(prints) == 5


def test_a_supervisor_counts_in_what_is_expected_at_most(data, members):
    lm = model("offline", ledger=None)

    def estimated(**settings):
        own = PanelSettings(**settings)
        parts = panel_parts(members, data, own)
        panel = panel_to_learn(members, parts, own)
        return estimate_panel(panel, parts, {}, lm, texts=own.texts).calls

    plain = estimated()
    assert estimated(supervisor="rule") == plain
    assert estimated(supervisor="offline") == plain + 20
    assert estimated(supervisor="offline", texts=False) == plain


def test_judging_by_a_supervised_panel_counts_the_supervisor_for_every_text(data, members):
    weights = PanelWeights.equal({name: one.scale for name, one in members.items()})
    merging = PanelSettings(supervisor="offline").merging
    facts = {"target": "overall", "human_scale": Scale(low=1, high=5)}
    panel = SavedPanel(members=members, weights=weights, **merging, **facts)
    lm = model("offline", ledger=None)
    with_it = estimate_judging([panel], data.items[:4], {}, lm)
    without = estimate_judging(list(members.values()), data.items[:4], {}, lm)
    assert with_it.calls == without.calls + 4
    assert with_it.input_tokens > without.input_tokens
    assert estimate_judging([panel], [], {}, lm).calls == 0
