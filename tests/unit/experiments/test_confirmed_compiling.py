"""What is kept of a search: luck is not, a gain is; through the public door."""

import numpy as np
import pytest

from judgesmith import CompileSettings, DataSet, read
from judgesmith import compile as compile_judge
from judgesmith.optimizers import ImprovementTest
from judgesmith.programs.lm import model

N_RUNS = 3
ROWS = read("sample").subset(range(48))


def shuffled(seed):
    """Return the sample with its ratings in another order, which no judge can know."""
    order = np.random.default_rng([seed, 3]).permutation(len(ROWS))
    ratings = [ROWS.items[place] for place in order]
    return DataSet(
        name="shuffled",
        items=tuple(
            one.model_copy(update={"human": other.human, "scale": other.scale})
            for one, other in zip(ROWS.items, ratings, strict=True)
        ),
    )


def rated_by_length():
    """Return the sample with ratings that follow how long the response is."""
    rows = read("sample")
    lengths = np.asarray([len(one.response) for one in rows.items])
    points = 1 + np.argsort(np.argsort(lengths)) * 5 // len(lengths)
    return DataSet(
        name="by-length",
        items=tuple(
            one.model_copy(update={"human": {"overall": (float(value),)}})
            for one, value in zip(rows.items, points, strict=True)
        ),
    )


def compiled(data, **settings):
    return compile_judge(data, CompileSettings(n_rounds=5, **settings), lm=model(ledger=None))


def changed(found):
    return found.saved.protocol != CompileSettings().protocol


@pytest.mark.no_cover
def test_shuffled_ratings_rarely_change_the_judge_and_mostly_would_without_the_rule():
    by_rule = [compiled(shuffled(seed), seed=seed) for seed in range(N_RUNS)]
    assert sum(map(changed, by_rule)) <= 1
    assert sum(one.objective.gain.low > 0 for one in by_rule) <= 1
    lucky = [compiled(shuffled(seed), seed=seed, confirm=None) for seed in range(N_RUNS)]
    assert sum(map(changed, lucky)) >= N_RUNS - 1


@pytest.mark.no_cover
def test_a_gain_that_is_no_luck_is_kept():
    found = compiled(rated_by_length())
    weights = found.saved.agreement.plain["confirmation"]["aggregation"]
    assert weights["passed"]
    assert weights["p_value"] < 0.05
    assert found.saved.protocol.aggregation.kind == "linear"
    assert found.objective.gain.value > 0.3


@pytest.mark.no_cover
def test_what_is_less_sure_than_the_level_is_told_and_not_kept():
    found = compiled(rated_by_length(), confirm=ImprovementTest(level=1e-6))
    assert not found.saved.agreement.plain["confirmation"]["aggregation"]["passed"]
    assert not changed(found)
    assert any("which may be luck" in note for note in found.notes)
