import pytest
from optimizing import LIKERT, examples, lm_of

from judgesmith.data import read_items
from judgesmith.experiments import CompileSettings, compile_judge
from judgesmith.experiments.compile import tuning
from judgesmith.experiments.compile.searching import Weighed, weighed
from judgesmith.optimizers import FitAggregation
from judgesmith.optimizers.rows import rows_of
from judgesmith.programs import ActiveCritic
from judgesmith.programs.lm import model

LENGTH = [20, 40, 60, 80, 90, 30, 70]


def by_place(question, shown, system):
    """Say something that agrees with people by chance alone."""
    return LENGTH[len(question) % len(LENGTH)]


def constant(question, shown, system):
    return 50


def fit(rule, **budget):
    return FitAggregation(
        "pearson", scale=LIKERT, lm=lm_of(rule, **budget), concurrency=1, n_repeats=2
    )


def both(start_rule, winner_rule, **budget):
    judge = ActiveCritic(variant="vanilla")
    rows = rows_of(examples(range(12)), LIKERT)
    return weighed(
        judge,
        judge,
        [rows.take(range(12)), rows.take(range(12, 24))],
        fit_winner=fit(winner_rule, **budget),
        fit_start=fit(start_rule, **budget),
    )


def test_values_are_those_of_the_fits_on_all_rows_together():
    found = both(by_place, by_place)
    alone = fit(by_place)
    alone.compile(ActiveCritic(variant="vanilla"), trainset=examples(range(12)))
    expected = next(one.value for one in alone.trials_ if one.name == alone.chosen_)
    assert (found.value, found.before) == (expected, expected)
    assert found.n_rows == 24
    assert not found.worse


def test_a_winner_without_a_value_is_worse_than_a_start_with_one():
    found = both(by_place, constant)
    assert found.to_dict()["value"] is None
    assert found.worse
    assert "and undefined for the winner" in found.note("pearson")
    assert not both(constant, constant).worse


def test_rows_that_either_shows_are_left_out_for_both():
    rated = examples(range(12))
    one = rated[0]
    shown = {"inputs": {"source": one.source, "response": one.response}, "outputs": {"score": 40}}
    protocol = {"variant": "vanilla", "demonstrations": {"overall": (shown,)}}
    name = next(name for name, _ in ActiveCritic(variant="vanilla").named_predictors())
    protocol["demonstrations"] = {name: (shown,)}
    found = weighed(
        ActiveCritic(**protocol),
        ActiveCritic(variant="vanilla"),
        [rows_of(rated, LIKERT)],
        fit_winner=fit(by_place),
        fit_start=fit(by_place),
    )
    assert found.n_rows == 23


def test_what_the_budget_left_unasked_is_not_compared():
    assert both(by_place, by_place, max_calls=10) is None


@pytest.mark.parametrize(("value", "kept"), [(0.1, "start"), (0.9, "winner")])
def test_a_compilation_keeps_the_start_where_weights_make_it_better(monkeypatch, value, kept):
    found = Weighed(value=value, before=0.5, n_rows=30)
    monkeypatch.setattr(tuning, "weighed", lambda *_, **__: found)
    data = read_items("sample").subset(range(60))
    settings = CompileSettings(
        optimizer="protocol", n_trials=4, criteria="given", protocol={"variant": "vanilla"}
    )
    monkeypatch.setattr(tuning.Tuning, "_with_protocol", _finding_another)
    compiled = compile_judge(data, settings, lm=model(ledger=None))
    assert compiled.saved.protocol.samples == (1 if kept == "start" else 3)
    assert any("judge as it was is the better one" in one for one in compiled.notes) == (
        kept == "start"
    )
    assert compiled.saved.agreement.plain["confirmation"]["weighed"] == {
        "value": value,
        "before": 0.5,
        "n_rows": 30,
    }


def _finding_another(self, start, bare, parts):
    """Stand for a search that found a judge with three samples."""
    winner = start.with_protocol(start.protocol.model_copy(update={"samples": 3}))
    return self._kept_when_weighed(winner, start, parts, self.lm)
