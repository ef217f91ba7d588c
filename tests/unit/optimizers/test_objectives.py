import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.metrics import kendall, pearson, spearman
from judgesmith.optimizers import Agreement, PredictionTable, parse_objective
from judgesmith.optimizers.objectives.agreement import AbsoluteError, parse_agreement
from judgesmith.optimizers.objectives.grammar import as_objective


def table(predicted, human, sources=None):
    n = len(human)
    return PredictionTable(
        predicted=np.asarray(predicted, dtype=float),
        human=np.asarray(human, dtype=float),
        sources=np.arange(n) if sources is None else np.asarray(sources),
        systems=np.asarray(["a"] * n),
    )


@pytest.mark.no_cover
@given(st.lists(st.tuples(st.integers(0, 100), st.integers(1, 5)), min_size=4, max_size=20))
def test_q_is_the_sum_of_three_correlations_of_the_whole_list(pairs):
    predicted, human = zip(*pairs, strict=True)
    parts = [float(one(predicted, human)) for one in (pearson, spearman, kendall)]
    found = Agreement("q").value(table(predicted, human))
    if math.isnan(sum(parts)):
        assert math.isnan(found)
    else:
        assert found == pytest.approx(sum(parts))


def test_unscored_rows_leave_the_correlation():
    whole = Agreement("pearson").value(table([1, 3, 2], [1, 2, 5]))
    assert Agreement("pearson").value(table([1, np.nan, 3, 2], [1, 9, 2, 5])) == whole


def test_a_judge_that_scored_nothing_has_an_undefined_objective():
    assert math.isnan(Agreement("q").value(table([np.nan] * 4, [1, 2, 3, 4])))


def test_a_constant_judge_has_an_undefined_objective_and_not_zero():
    assert math.isnan(Agreement("q").value(table([50] * 4, [1, 2, 3, 4])))


def test_the_estimate_names_its_rows_and_sources():
    rng = np.random.default_rng(0)
    human = rng.integers(1, 6, size=40)
    found = Agreement("pearson").estimate(
        table(human + rng.normal(size=40), human, np.arange(40) // 2), rng=rng
    )
    assert found.low < found.value < found.high
    assert (found.n, found.n_groups, found.confidence) == (40, 20, 0.95)


@pytest.mark.parametrize(
    "text", ["q", "pearson@sample", "spearman@system", "kendall", "concordance@sample", "kendall_c"]
)
def test_a_correlation_is_written_as_it_is_read(text):
    assert str(parse_agreement(text)) == text
    assert parse_objective(text) == parse_agreement(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "accuracy",
            "as in q or spearman@sample: statistic must be one of .*q; got 'accuracy'",
        ),
        ("q@item", "level must be one of system, sample, dataset; got 'item'"),
        ("q + kappa", "an objective is STATISTIC or STATISTIC@LEVEL"),
    ],
)
def test_what_is_no_single_correlation_is_refused_with_what_there_is(text, message):
    with pytest.raises(ValueError, match=message):
        parse_agreement(text)


def test_an_objective_may_be_given_as_text_or_as_it_is():
    assert as_objective("q") == Agreement("q")
    assert as_objective(Agreement("pearson")) == Agreement("pearson")


def test_what_is_better_when_lower_is_no_objective_by_itself():
    with pytest.raises(ValueError, match="mae is better when lower; subtract it, as in '-mae'"):
        as_objective(AbsoluteError())


class TestSeveralTargets:
    whole = table([1, 3, 2, 5], [1, 2, 5, 4])
    wit = table([4, 3, 2, 1, 9], [1, 3, 2, 4, 5])

    @pytest.mark.parametrize("name", ["q", "pearson", "kendall"])
    def test_the_objective_is_the_mean_over_them(self, name):
        several = PredictionTable.of_parts({"score": self.whole, "wit": self.wit})
        one_by_one = [Agreement(name).value(part) for part in (self.whole, self.wit)]
        assert Agreement(name).value(several) == pytest.approx(np.mean(one_by_one))

    def test_scales_of_the_targets_do_not_mix(self):
        stretched = table(self.wit.predicted, 1000 * self.wit.human)
        several = PredictionTable.of_parts({"score": self.whole, "wit": self.wit})
        again = PredictionTable.of_parts({"score": self.whole, "wit": stretched})
        assert Agreement("q").value(again) == pytest.approx(Agreement("q").value(several))

    def test_one_that_is_undefined_makes_the_whole_undefined(self):
        for lost in (table([5, 5, 5], [1, 2, 3]), table([np.nan] * 3, [1, 2, 3])):
            several = PredictionTable.of_parts({"score": self.whole, "wit": lost})
            assert math.isnan(Agreement("q").value(several))

    def test_they_have_one_interval_together_and_one_gain(self):
        several = PredictionTable.of_parts({"score": self.whole, "wit": self.wit})
        objective = Agreement("pearson")
        found = objective.estimate(several, rng=np.random.default_rng(0))
        assert found.value == pytest.approx(objective.value(several))
        assert found.n == several.n
        gain = objective.gain(several, several, rng=np.random.default_rng(0))
        assert gain.value == 0.0
