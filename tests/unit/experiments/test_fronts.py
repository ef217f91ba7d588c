import math
from types import SimpleNamespace

import numpy as np
import pytest

from judgesmith.data import read_items
from judgesmith.experiments import CompileSettings, compile_judge
from judgesmith.experiments.compile.tuning import (
    check_searched,
    deciding_objective,
    each_objective,
    front_notes,
    importance_entries,
)
from judgesmith.optimizers.objectives.grammar import parse_objectives
from judgesmith.optimizers.storage import ENOUGH_TRIALS, open_storage
from judgesmith.optimizers.trials import TrialRecord
from judgesmith.programs.lm import model

QUICK = {"optimizer": "protocol", "n_trials": 6, "criteria": "given", "holdout": 0.3}


@pytest.fixture(scope="module")
def data():
    return read_items("sample").subset(range(60))


@pytest.fixture(scope="module")
def found(data):
    settings = CompileSettings(**QUICK, objective="-calls, q")
    return compile_judge(data, settings, lm=model(ledger=None))


@pytest.mark.no_cover
def test_every_judge_of_the_front_is_ready_to_be_taken(found):
    for one in found.saved.front:
        assert one.model == "offline"
        assert one.questions
        assert one.agreement.plain["selection"]["dataset"]["q"]["n"] > 0
    (knee,) = (one for one in found.saved.front if one.knee)
    assert knee.protocol == found.saved.protocol
    assert knee.agreement.plain["selection"] == found.saved.agreement.plain["selection"]


def test_every_objective_is_reported_and_the_first_that_looks_at_scores_decides(found):
    assert [one.name for one in found.objectives] == ["q", "-calls"]
    assert found.objective is found.objectives[0]
    told = found.saved.agreement.plain["objectives"]
    assert [one["name"] for one in told] == ["q", "-calls"]
    assert told[1]["heldout"]["value"] <= -1
    for part in ("uncompiled", "selection", "heldout", "gain"):
        assert told[0][part] == found.saved.agreement.plain[part]["dataset"]["q"]


def test_a_note_says_what_is_on_the_front(found):
    said = " ".join(found.notes)
    numbers = ", ".join(str(one.number) for one in found.saved.front)
    assert f"number {numbers}" in said


def test_values_are_those_of_the_trials(found):
    trials = {x["number"]: x for x in found.saved.history if x["stage"] == "protocol"}
    for one in found.saved.front:
        for name, value in one.values.items():
            assert trials[one.number]["values"][name] == pytest.approx(value.value)


@pytest.mark.no_cover
def test_one_objective_leaves_no_front(data):
    single = compile_judge(data, CompileSettings(**QUICK | {"n_trials": 1}), lm=model(ledger=None))
    assert single.saved.front == ()
    assert single.objectives == ()
    assert "objectives" not in single.saved.agreement


def test_objectives_and_dollars_need_a_search_of_the_protocol():
    for text, message in (("q, -calls", "several objectives"), ("q - usd", "what judgements cost")):
        check_searched(CompileSettings(optimizer="protocol", objective=text))
        with pytest.raises(ValueError, match=message):
            check_searched(CompileSettings(objective=text))


def test_aggregation_is_decided_without_dollars():
    def decides(text):
        return str(deciding_objective(CompileSettings(optimizer="protocol", objective=text)))

    assert decides("-usd, pearson; usd <= 1") == "pearson"
    assert decides("q - 2*usd") == "q"
    assert decides("q - .01*calls") == "q - 0.01*calls"


def test_the_deciding_objective_comes_first():
    settings = CompileSettings(optimizer="protocol", objective="-calls, q, -mae")
    assert [str(one) for one in each_objective(settings)] == ["q", "-calls", "-mae"]
    assert [str(one) for one in each_objective(CompileSettings())] == ["q"]


def test_models_are_those_of_the_settings(data):
    settings = CompileSettings(**QUICK, models=("openai/m",))
    with pytest.raises(ValueError, match=r"those of the settings \(openai/m\); got none"):
        compile_judge(data, settings, lm=model(ledger=None))
    assert "models" not in CompileSettings(**QUICK).model_dump()


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


def test_an_empty_front_says_nothing():
    assert front_notes(()) == []
    assert parse_objectives("q, -calls").front([[np.nan, 1]], [0]).knee is None


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
    assert said.startswith("nobody is on the front, so the judge as it was stays")
    assert "2 of 2 left more than 5% of the rows without a score" in said
    assert "(the judge as it was: 10%)" in said
    (said,) = front_notes((), [trial(0, 1.0, math.nan)])
    assert "q is undefined for 1 of 1" in said
