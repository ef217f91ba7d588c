import json

import pytest

from judgesmith.data import read_items
from judgesmith.experiments import CompileSettings, compile_judge
from judgesmith.experiments.compile.searching import confirmation_of, search_notes
from judgesmith.optimizers import ProtocolSearch, parse_objective
from judgesmith.optimizers.search.confirmation import ConfirmationResult
from judgesmith.optimizers.trials import TrialRecord
from judgesmith.programs.lm import model


def trial(number, value, *, n_rows=100):
    picked = {"answers": "1-5"} if number else {}
    return TrialRecord(number=number, picked=picked, value=value, n_rows=n_rows, share_scored=1.0)


def confirmation(number, *, passed, **given):
    values = {"chosen": 1.4, "chosen_before": 1.0, "p_value": 0.012, "standard_error": 0.05}
    return ConfirmationResult(
        number=number, n_rows=100, n_compared=5, passed=passed, **{**values, **given}
    )


def ended(*trials, found=None, taken=0, complete=True):
    search = ProtocolSearch(n_trials=5)
    search.trials_, search.confirmation_, search.taken_ = trials, found, taken
    search.complete_ = complete
    search.space_ = type("Space", (), {"size": 12})()
    search.study_ = None
    return search


@pytest.fixture(autouse=True)
def _without_importances(monkeypatch):
    monkeypatch.setattr("judgesmith.experiments.compile.searching.importances", lambda study: {})


def told(search):
    return " ".join(search_notes(search))


def test_what_was_taken_is_told_with_its_test():
    found = confirmation(3, passed=True)
    said = told(ended(trial(0, 1.0), trial(3, 1.4), found=found, taken=3))
    assert "taken was number 3, answers 1-5: q 1.400 on the 100 rows to choose by" in said
    assert "(+0.400, standard error 0.050, p 0.012 over 5 compared)" in said


def test_under_conditions_a_value_is_not_told_as_that_of_the_aim():
    found = confirmation(2, passed=False, chosen=-3.6, chosen_before=-3.7)
    one = ended(trial(0, -3.7), trial(2, -3.6), found=found)
    one.objective = parse_objective("q; kappa >= .9")
    assert "with q; kappa >= 0.9, less what the conditions lack, -3.600 on" in told(one)


def test_a_search_that_tried_nothing_says_just_that():
    (said,) = search_notes(ended(trial(0, 1.0), complete=False))
    assert said.startswith("the budget ended the search before anything was tried")


def test_a_leader_that_may_be_lucky_is_told_and_the_judge_stays():
    found = confirmation(2, passed=False, p_value=0.31)
    said = told(ended(trial(0, 1.0), trial(2, 1.4), found=found))
    assert "the search keeps the judge as it was: the best was number 2, answers 1-5" in said
    assert "p 0.310 over 5 compared), which may be luck" in said
    assert "a usual outcome" in said
    assert "taken was" not in said


def test_where_nobody_led_nothing_is_said_of_luck():
    said = told(ended(trial(0, 1.0), trial(1, 0.9)))
    assert "nothing agreed better on these rows" in said
    assert "luck" not in said


def test_what_is_undefined_is_called_so():
    nan = float("nan")
    found = confirmation(2, passed=True, chosen_before=nan, p_value=nan, standard_error=nan)
    said = told(ended(trial(0, nan), trial(2, 1.4), found=found, taken=2))
    assert "undefined" in said
    assert "untested among 5 compared" in said
    assert " nan" not in said


def test_nothing_is_told_of_a_choice_where_a_front_was_searched():
    one = ended(trial(0, 1.0), trial(1, 1.5), taken=None)
    assert confirmation_of(one) is None
    assert len(search_notes(one)) == 1


class TestTheArtifact:
    @pytest.mark.no_cover
    @pytest.mark.parametrize("optimizer", ["random", "protocol"])
    def test_says_whether_better_was_found_and_how_the_best_was_tested(self, optimizer):
        data = read_items("sample").subset(range(60))
        settings = CompileSettings(optimizer=optimizer, n_trials=4, n_rounds=4, criteria="given")
        found = compile_judge(data, settings, lm=model(ledger=None))
        said = json.loads(json.dumps(found.saved.agreement.plain["confirmation"]))
        assert said["better"] == (said["taken"] != 0)
        stage = "demonstrations" if optimizer == "random" else "protocol"
        values = [one["value"] for one in found.saved.history if one["stage"] == stage]
        (leader,) = said["leaders"]
        assert leader["chosen"] == values[leader["number"]]
        assert leader["n_rows"] == said["chosen_on"]
        assert leader["n_compared"] <= len(values) - 1
        assert 0 < leader["p_value"] <= 1
        assert leader["passed"] == said["better"]
        for gone in ("value", "before", "crossed", "optimism"):
            assert leader[gone] is None
        assert {"gain", "standard_error"} <= set(leader)

    @pytest.mark.no_cover
    def test_of_a_judge_as_it_was_says_nothing_of_it(self):
        data = read_items("sample").subset(range(60))
        found = compile_judge(data, CompileSettings(optimizer="none"), lm=model(ledger=None))
        assert "confirmation" not in found.saved.agreement
