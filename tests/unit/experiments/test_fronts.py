"""Several objectives, ensembles and inference within a compilation."""

import dataclasses
import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from looping import for_each

from judgesmith.data import read_items
from judgesmith.data.items import DataSet
from judgesmith.data.targets import targets_of
from judgesmith.experiments import CompileSettings, compile_judge
from judgesmith.experiments.compile import inferring
from judgesmith.experiments.compile.inferring import InferenceRun, infer_rubric, offline_notes
from judgesmith.experiments.compile.notes import objective_report
from judgesmith.experiments.compile.tuning import (
    check_searched,
    deciding_objective,
    each_objective,
    front_notes,
    importance_entries,
)
from judgesmith.experiments.panel.panelling import learn_panel
from judgesmith.experiments.panel.rows import PanelSettings, panel_parts
from judgesmith.experiments.run_folders import check_folder, json_object_in, write_rows
from judgesmith.experiments.scoring.estimates import estimate_judging
from judgesmith.optimizers import PredictionTable, parse_objective
from judgesmith.optimizers.objectives.agreement import Agreement
from judgesmith.optimizers.objectives.grammar import parse_objectives
from judgesmith.optimizers.storage import ENOUGH_TRIALS, open_storage
from judgesmith.optimizers.trials import TrialRecord
from judgesmith.programs import ActiveCritic, DirectJudge, SavedJudge, SavedPanel, score_batch
from judgesmith.programs.lm import lm_client_of, model
from judgesmith.signatures import RatedItem, Rubric, Scale
from judgesmith.signatures.aggregation import PanelWeights

# fronts

QUICK = {"optimizer": "protocol", "n_trials": 6, "criteria": "given", "holdout": 0.3}


@pytest.fixture(scope="module")
def data_fronts():
    return read_items("sample").subset(range(60))


@pytest.fixture(scope="module")
def found(data_fronts):
    settings = CompileSettings(**QUICK, objective="-calls, q")
    return compile_judge(data_fronts, settings, lm=model(ledger=None))


@pytest.mark.no_cover
def test_a_front_is_ready_to_be_taken_and_told_by_the_trials(found):
    for one in found.saved.front:
        assert one.model == "offline"
        assert one.questions
        assert one.agreement.plain["selection"]["dataset"]["q"]["n"] > 0
    (knee,) = (one for one in found.saved.front if one.knee)
    assert knee.protocol == found.saved.protocol
    assert knee.agreement.plain["selection"] == found.saved.agreement.plain["selection"]
    said = " ".join(found.notes)
    numbers = ", ".join(str(one.number) for one in found.saved.front)
    assert f"candidate{'s' * (len(found.saved.front) > 1)} {numbers}" in said
    trials = {x["number"]: x for x in found.saved.history if x["stage"] == "protocol"}
    for one in found.saved.front:
        for name, value in one.values.items():
            assert trials[one.number]["values"][name] == pytest.approx(value.value)


def test_every_objective_is_reported_and_the_first_that_looks_at_scores_decides(found):
    assert [one.name for one in found.objectives] == ["q", "-calls"]
    assert found.objective is found.objectives[0]
    told = found.saved.agreement.plain["objectives"]
    assert [one["name"] for one in told] == ["q", "-calls"]
    assert told[1]["heldout"]["value"] <= -1
    for part in ("uncompiled", "selection", "heldout", "gain"):
        assert told[0][part] == found.saved.agreement.plain[part]["dataset"]["q"]


def test_objectives_and_dollars_need_a_search_of_the_protocol():
    for text, message in (("q, -calls", "several objectives"), ("q - usd", "what judgements cost")):
        check_searched(CompileSettings(optimizer="protocol", objective=text))
        with pytest.raises(ValueError, match=message):
            check_searched(CompileSettings(objective=text))


def test_the_deciding_objective_comes_first_and_knows_no_dollars():
    settings = CompileSettings(optimizer="protocol", objective="-calls, q, -mae")
    assert [str(one) for one in each_objective(settings)] == ["q", "-calls", "-mae"]
    assert [str(one) for one in each_objective(CompileSettings())] == ["q"]

    def decides(text):
        return str(deciding_objective(CompileSettings(optimizer="protocol", objective=text)))

    assert decides("-usd, pearson; usd <= 1") == "pearson"
    assert decides("q - 2*usd") == "q"
    assert decides("q - .01*calls") == "q - 0.01*calls"


def test_importances_are_told_by_objective():
    study = open_storage(None).study("two", n_objectives=2)
    for k in range(ENOUGH_TRIALS):
        picked = study.ask().suggest_categorical("variant", ["fine", "coarse"])
        study.tell(k, [float(picked == "fine"), -1.0])
    search = SimpleNamespace(objective=parse_objectives("q, -calls"), study_=study)
    few = SimpleNamespace(objective=parse_objectives("q"), study_=open_storage(None).study("few"))
    only = {"stage": "importances", "objective": "q", "shares": {"variant": 1.0}}
    assert importance_entries(search) == [only]  # calls are the same for all
    assert importance_entries(few) == []


def trial(number, share, value, n_rows=10):
    return TrialRecord(
        number=number,
        picked={},
        value=value,
        values={"q": value, "-calls": -1.0},
        n_rows=n_rows,
        share_scored=share,
        against=None,
    )


def test_a_front_that_nobody_is_on_says_why():
    (said,) = front_notes((), [trial(0, 0.9, 1.0), trial(1, 0.5, 1.0), trial(2, 1, 1.0, n_rows=3)])
    assert said.startswith("no judge is on the front, so the baseline is kept")
    assert "2 of 2 left more than 5% of the rows without a score" in said
    assert "(the baseline: 10%)" in said
    (said,) = front_notes((), [trial(0, 1.0, math.nan)])
    assert "q is undefined for 1 of 1" in said


# Weights of a panel are learned from rows that no member has seen.


@pytest.fixture(scope="module")
def data_panelling():
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
def members(data_panelling):
    return {
        "grades": saved(ActiveCritic(variant="vanilla"), data_panelling.items[:20]),
        "direct": saved(DirectJudge(), data_panelling.items[10:40]),
    }


def test_rows_that_any_member_has_seen_are_left_out(data_panelling, members):
    parts = panel_parts(members, data_panelling, PanelSettings())
    assert parts.n_known == 40
    rows = [one.key for part in (parts.selection, parts.heldout) for one in part.items]
    assert set(rows) == {one.key for one in data_panelling.items[40:]}
    assert not set(parts.selection.groups) & set(parts.heldout.groups)


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
def test_what_makes_no_panel_is_refused_before_anything_is_asked(
    data_panelling, members, change, said
):
    change(members, data_panelling)
    with pytest.raises(ValueError, match=said):
        panel_parts(members, data_panelling, PanelSettings())


def test_a_plain_mean_takes_too_few_ratings_and_none(data_panelling, members):
    bare = tuple(one.model_copy(update={"human": {}, "scale": {}}) for one in data_panelling)
    unrated = dataclasses.replace(data_panelling, items=bare)
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
    members.update(direct=saved(DirectJudge(), data_panelling.items))
    seen = learn_panel(members, data_panelling, settings)
    assert (seen.selection, seen.saved.golden, seen.saved.rows["known"]) == (None, (), 160)
    assert "0 rated rows are too few to tell how well judges agree" in " ".join(seen.notes)
    with pytest.raises(ValueError, match=r"^to tell how judges agree takes 20 rated rows of 5"):
        panel_parts(members, data_panelling, PanelSettings(score="mean", subsets=True))


def test_the_best_judge_is_told_beside_the_panel(data_panelling, members):
    found = learn_panel(members, data_panelling, PanelSettings(texts=False))
    assert found.best in members
    assert found.saved.settings["best_member"] == found.best
    q = found.gain["dataset"]["q"]
    assert q.first == found.heldout["dataset"]["q"].value
    assert q.second == found.best_member["dataset"]["q"].value
    assert [one["stage"] for one in found.saved.history] == ["panel"] * 3
    assert found.saved.golden == ()


def test_one_judge_under_two_names_is_refused(data_panelling, members):
    twice = {**members, "again": members["direct"]}
    with pytest.raises(ValueError, match=r"direct and again are the same judge .*name each once"):
        learn_panel(twice, data_panelling)


def test_the_score_may_be_plain_and_who_merges_errors_is_part_of_what_is_saved(
    data_panelling, members
):
    settings = PanelSettings(score="median", supervisor="offline", outliers="none")
    saved = learn_panel(members, data_panelling, settings).saved
    assert (saved.weights.weights, saved.weights.middle) == ((0.5, 0.5), "median")
    assert saved.rules.outliers == "none"
    assert saved.supervisor.model == "offline"
    assert saved.history == ()
    assert all(one.judgement.merged_by == "nobody" for one in saved.golden)
    assert list(PanelSettings(supervisor="rule").merging) == ["rules"]


def test_subsets_are_told_without_a_single_further_question(data_panelling, members):
    def calls(**settings):
        lm = model("offline", ledger=None)
        own = PanelSettings(holdout=0, score="mean", **settings)
        found = learn_panel(members, data_panelling.subset(range(40, 80)), own, lm=lm)
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


def test_every_setting_of_a_panel_changes_its_run(data_panelling, members):
    changes = [{"score": "mean"}, {"supervisor": "rule"}, {"subsets": True}, {"outliers": "none"}]
    prints = {PanelSettings(**one).fingerprint(members, data_panelling) for one in ({}, *changes)}
    assert len(prints) == 5


def test_judging_by_a_supervised_panel_counts_the_supervisor_for_every_text(
    data_panelling, members
):
    weights = PanelWeights.equal({name: one.scale for name, one in members.items()})
    merging = PanelSettings(supervisor="offline").merging
    facts = {"target": "overall", "human_scale": Scale(low=1, high=5)}
    panel = SavedPanel(members=members, weights=weights, **merging, **facts)
    lm = model("offline", ledger=None)
    with_it = estimate_judging([panel], data_panelling.items[:4], {}, lm)
    without = estimate_judging(list(members.values()), data_panelling.items[:4], {}, lm)
    assert with_it.calls == without.calls + 4
    assert with_it.input_tokens > without.input_tokens
    assert estimate_judging([panel], [], {}, lm).calls == 0


# inferring


@pytest.fixture(scope="module")
def data_inferring():
    return read_items("sample").subset(range(60))


@pytest.fixture
def shown(monkeypatch):
    """Scores that inference was given, by key of the text; nothing is asked."""
    seen = {}

    class Recording:
        def __init__(self, settings):
            pass

        def __call__(self, *, items, scores, **_):
            seen.update(zip([item.key for item in items], scores, strict=True))
            return Rubric(task="t", provenance={"notes": []})

    monkeypatch.setattr(inferring, "TaskInference", Recording)
    return seen


def rated(scale, *points):
    items = [
        RatedItem(source=str(n), response="r", human={"overall": (one,)}, scale={"overall": scale})
        for n, one in enumerate(points)
    ]
    return DataSet(name="toy", items=tuple(items))


class TestScoresThatTheModelIsShown:
    def test_are_percent_of_the_range(self, data_inferring, shown):
        infer_rubric(data_inferring)
        targets = targets_of(data_inferring)
        expected = dict(
            zip([item.key for item in data_inferring], 100 * targets.fractions, strict=True)
        )
        assert len(shown) > 20
        assert shown == pytest.approx({key: expected[key] for key in shown})

    @pytest.mark.parametrize(
        ("scale", "points"),
        [
            (Scale(low=-25, high=0), (-25, -3, 0, -1)),
            (Scale(low=0, high=5, higher_is_better=False), (1, 2, 3, 5)),
        ],
    )
    def test_percent_of_the_highest_point_needs_a_scale_that_allows_it(self, scale, points, shown):
        with pytest.raises(ValueError, match="percent of the maximum needs a scale from 0"):
            infer_rubric(rated(scale, *points), InferenceRun(percent_of_max=True))
        assert shown == {}


@for_each(
    "changed",
    [
        {"percent_of_max": True},
        {"holdout": 0.5},
        {"target": "overall"},
        {"aggregate": "median"},
        {"split_rows": True},
        {"given": Rubric(task="Mine.")},
        {"settings": {"seed": 1}},
    ],
)
def test_every_setting_is_part_of_the_fingerprint(data_inferring, changed):
    usual = InferenceRun().fingerprint(data_inferring, "offline")
    assert InferenceRun(**changed).fingerprint(data_inferring, "offline") != usual


def test_another_endpoint_is_another_run(data_inferring, shown, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    lms = [
        model("openai/m", api_base=f"http://localhost:{port}/v1", ledger=None) for port in (1, 2)
    ]
    first, second, again = (infer_rubric(data_inferring, lm=lm) for lm in (*lms, lms[0]))
    runs = [found.rubric.provenance["run"] for found in (first, second, again)]
    assert runs[0] == runs[2] != runs[1]


# offline notes

ENGLISH = "The council approved the plan on Monday. It said that the work will cost two million."
SPANISH = "El puente fue cerrado por las obras y los vecinos no están contentos con su alcalde."
CHINESE = "市议会星期一批准了这项计划。工程将耗资一千二百万欧元，历时两年。"


def items(*texts):
    return [RatedItem(source=source, response=response) for source, response in texts]


def test_of_english_texts_only_task_inference_needs_a_word():
    english = items((ENGLISH, ENGLISH))
    assert offline_notes(english, "offline", inferred=False) == []
    (note,) = offline_notes(english, "offline", inferred=True)
    assert "English" in note
    assert offline_notes([], "offline", inferred=False) == []


def test_a_judge_of_other_texts_says_what_it_judges_by_and_what_not():
    limit, judges = offline_notes(items((SPANISH, SPANISH)), "offline", inferred=False)
    assert limit.startswith("the texts look Spanish")
    assert "shared words, repetition, length and punctuation" in judges
    assert "not by grammar or meaning" in judges


def test_translations_share_no_words_with_their_sources():
    notes = offline_notes(items((CHINESE, ENGLISH)), "offline", inferred=False)
    assert "sources and responses are in different scripts" in notes[0]
    assert len(notes) == 2


# objective report


def table(seed, noise):
    rng = np.random.default_rng(seed)
    human = rng.normal(size=40)
    one = PredictionTable(
        predicted=human + noise * rng.normal(size=40),
        human=human,
        sources=np.arange(40) // 2,
        systems=np.array(["a", "b"] * 20),
    )
    return PredictionTable.of_parts({"score": one, "wit": one.predicting(one.predicted[::-1])})


def report(heldout):
    return objective_report(
        Agreement("pearson"), ("score", "wit"), selection=table(0, 0.1), heldout=heldout, seed=[1]
    )


def test_the_mean_over_targets_is_told_before_and_after_with_its_gain():
    found = report((table(1, 2.0), table(1, 0.5)))
    assert found.gain.value == pytest.approx(found.heldout.value - found.uncompiled.value)
    assert found.optimism == pytest.approx(found.selection.value - found.heldout.value)
    plain = found.to_dict()
    assert (plain["name"], plain["targets"]) == ("pearson", ["score", "wit"])
    assert plain["gain"]["n"] == 80


def test_of_an_objective_with_conditions_the_aim_is_told_and_whether_they_are_met():
    objective = parse_objective("pearson; ties >= .99; scored >= .9")
    before, after = table(1, 2.0), table(1, 0.5)
    found = objective_report(
        objective, ("score", "wit"), selection=table(0, 0.1), heldout=(before, after), seed=[1]
    )
    assert found.heldout.value == pytest.approx(Agreement("pearson").value(after))
    assert found.gain.value == pytest.approx(found.heldout.value - found.uncompiled.value)
    plain = found.to_dict()["constraints"]
    assert {name: one["met"] for name, one in plain.items()} == {
        "ties >= 0.99": False,
        "scored >= 0.9": True,
    }
    assert plain["scored >= 0.9"]["value"] == 1.0
    assert "constraints" not in report(None).to_dict()


# Folders that are written as a whole: nothing of somebody else's is replaced.


def checked(folder: Path, run: str, *, force: bool = False) -> None:
    stated = json_object_in(folder / "report.json")
    files = ("report.json", "rows.jsonl")
    check_folder(folder, run, stated=stated, files=files, what="a test", force=force)


def test_a_run_may_write_where_nothing_is_and_where_it_wrote_before(tmp_path: Path) -> None:
    checked(tmp_path / "new", "a")
    (tmp_path / "report.json").write_text('{"run": "a"}')
    write_rows(tmp_path / "rows.jsonl", [{"n": 1}, {"n": None}])
    checked(tmp_path, "a")
    assert (tmp_path / "rows.jsonl").read_text() == '{"n": 1}\n{"n": null}\n'


@pytest.mark.parametrize("report", ["[1]", "{", "\udcff", "[" * 100_000])
def test_what_is_no_report_is_something_else(tmp_path: Path, report: str) -> None:
    (tmp_path / "report.json").write_bytes(report.encode(errors="surrogateescape"))
    with pytest.raises(FileExistsError, match="something else than a test"):
        checked(tmp_path, "a", force=True)


def test_a_file_beside_what_is_ours_is_not_thrown_away(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text('{"run": "a"}')
    (tmp_path / "diary.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="something else than a test"):
        checked(tmp_path, "a", force=True)
    with pytest.raises(FileExistsError, match="something else than a test"):
        checked(tmp_path / "diary.txt", "a")
