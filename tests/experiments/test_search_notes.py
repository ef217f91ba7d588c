import json

import pytest

from judgesmith.experiments import CompileSettings, compile_judge, read_items
from judgesmith.experiments.searching import confirmation_of, search_notes
from judgesmith.optimizers import ProtocolSearch, parse_objective
from judgesmith.optimizers.confirming import Confirmation
from judgesmith.optimizers.racing_search import RacedTrial
from judgesmith.programs.models import model


def trial(number, value, *, n_rows=100):
    picked = {"answers": "1-5"} if number else {}
    return RacedTrial(number=number, picked=picked, value=value, n_rows=n_rows, share_scored=1.0)


def confirmation(number, *, passed, crossed=False, **given):
    values = {"chosen": 1.4, "chosen_before": 1.0, "value": 1.3, "before": 1.1, **given}
    return Confirmation(
        number=number, standard_error=0.05, n_rows=50, crossed=crossed, passed=passed, **values
    )


def ended(*trials, confirmations=(), taken=0, complete=True):
    search = ProtocolSearch(n_trials=5)
    search.trials_, search.confirmations_, search.taken_ = trials, confirmations, taken
    search.complete_ = complete
    search.space_ = type("Space", (), {"size": 12})()
    search.study_ = None
    return search


@pytest.fixture(autouse=True)
def _without_importances(monkeypatch):
    monkeypatch.setattr("judgesmith.experiments.searching.importances", lambda study: {})


def told(search):
    return " ".join(search_notes(search))


def test_what_was_taken_is_told_with_what_it_gained_on_other_rows():
    one = ended(
        trial(0, 1.0), trial(3, 1.4), confirmations=(confirmation(3, passed=True),), taken=3
    )
    said = told(one)
    assert "taken was number 3: answers 1-5; q 1.400 on the 100 rows it was chosen by" in said
    assert "on 50 rows that were set aside, number 3 has q 1.300" in said
    assert "(difference +0.200, standard error 0.050)" in said
    assert "had promised +0.200 more" in said


def test_under_conditions_a_value_is_not_told_as_that_of_the_aim():
    one = ended(trial(0, -3.7), trial(2, -3.6), confirmations=(confirmation(2, passed=False),))
    one.objective = parse_objective("q; kappa >= .9")
    assert "led with q; kappa >= 0.9, less what the conditions lack, -3.600 on" in told(one)


def test_a_search_that_tried_nothing_says_just_that():
    (said,) = search_notes(ended(trial(0, 1.0), complete=False))
    assert said.startswith("the budget ended the search before anything was tried")


def test_a_leader_that_was_not_confirmed_is_told_and_the_judge_stays():
    one = ended(trial(0, 1.0), trial(2, 1.4), confirmations=(confirmation(2, passed=False),))
    said = told(one)
    assert "none of them agreed better beyond a standard error" in said
    assert "a usual outcome" in said
    assert "Number 2 led with q 1.400" in said
    assert "taken was" not in said


def test_a_choice_that_was_crossed_says_so():
    crossed = confirmation(2, passed=True, crossed=True)
    said = told(ended(trial(0, 1.0), trial(2, 1.4), confirmations=(crossed,), taken=2))
    assert "the best on one half of these 50 rows has, on the other half, q 1.300" in said


def test_where_nobody_led_nothing_is_said_of_other_rows():
    said = told(ended(trial(0, 1.0), trial(1, 0.9)))
    assert "none of them agreed better on these rows" in said
    assert "set aside" not in said


@pytest.mark.parametrize(
    ("complete", "why"), [(False, "the budget ended before"), (True, "all rows are of one source")]
)
def test_a_leader_that_could_not_be_confirmed_is_told_with_the_reason(complete, why):
    said = told(ended(trial(0, 1.0), trial(1, 1.5), complete=complete))
    assert "number 1 led" in said
    assert why in said
    assert "none of them" not in said


def test_what_is_undefined_is_called_so():
    nan = float("nan")
    first = confirmation(2, passed=True, chosen_before=nan, before=nan)
    said = told(ended(trial(0, nan), trial(2, 1.4), confirmations=(first,), taken=2))
    assert "undefined" in said
    assert " nan" not in said


def test_nothing_is_told_of_a_choice_where_a_front_was_searched():
    one = ended(trial(0, 1.0), trial(1, 1.5), taken=None)
    assert confirmation_of(one) is None
    assert len(search_notes(one)) == 1


class TestTheArtifact:
    @pytest.mark.no_cover
    def test_says_whether_better_was_found_and_how_every_leader_did(self):
        data = read_items("sample").subset(range(60))
        settings = CompileSettings(optimizer="protocol", n_trials=4, criteria="given")
        found = compile_judge(data, settings, lm=model(ledger=None))
        said = json.loads(json.dumps(found.saved.agreement["confirmation"]))
        assert said["better"] == (said["taken"] != 0)
        tried = {one["number"]: one for one in found.saved.history if one["stage"] == "protocol"}
        assert said["chosen_on"] == tried[0]["n_rows"]
        for one in said["leaders"]:
            assert one["chosen"] == tried[one["number"]]["value"]
            assert {"gain", "optimism", "standard_error", "passed"} <= set(one)

    @pytest.mark.no_cover
    def test_of_another_search_says_nothing_of_it(self):
        data = read_items("sample").subset(range(60))
        settings = CompileSettings(n_rounds=2, criteria="given")
        found = compile_judge(data, settings, lm=model(ledger=None))
        assert "confirmation" not in found.saved.agreement
