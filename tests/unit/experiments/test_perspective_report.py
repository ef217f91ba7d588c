import numpy as np
import pytest

from judgesmith.data import DataSet
from judgesmith.data.score_files import Scores
from judgesmith.experiments import perspective_of_scores
from judgesmith.experiments.evaluate.perspectives.report import mean_estimate
from judgesmith.metrics import weighted_kappa_interval
from judgesmith.metrics.resampling.draws import Counted, ratio_of_sums
from judgesmith.signatures import RatedItem, Scale

RNG = np.random.default_rng


def test_the_mean_leaves_out_what_is_undefined_and_counts_it():
    part = ratio_of_sums(np.array([1.0, 0, 1]), np.ones(3), np.arange(3), 3)
    nothing = Counted(value=np.nan, of_counts=lambda c: np.full(len(c), np.nan), n_units=3)
    found = mean_estimate([part, nothing], 3, n=3, rng=RNG(0))
    assert (found.value, found.n_undefined) == (pytest.approx(2 / 3), 1)
    assert np.isnan(mean_estimate([nothing], 3, n=3, rng=RNG(0)).value)


def test_the_interval_of_a_mean_of_one_is_near_that_of_the_one():
    rng = RNG(1)
    right = rng.integers(1, 6, 120)
    judged = np.clip(right + rng.integers(-1, 2, 120), 1, 5)
    items = [
        RatedItem(
            source_id=str(n // 3),
            system_id=str(n % 3),
            response=f"r{n}",
            human={"wit": (float(one),) * 2},
            scale={"wit": Scale(low=1, high=5)},
        )
        for n, one in enumerate(right.tolist())
    ]
    data = DataSet(name="many", items=tuple(items))
    scores = Scores(
        values=judged.astype(float),
        problems=(None,) * 120,
        label="j",
        criterion=None,
        n_unused=0,
        samples=tuple((float(one),) for one in judged),
    )
    found = perspective_of_scores(
        {"": scores}, data, perspective="global", answers=Scale(low=1, high=5), rng=RNG(0)
    )
    alone = weighted_kappa_interval(
        right, judged, sources=data.groups.tolist(), levels=range(1, 6), rng=RNG(5)
    )
    assert found.mean.value == pytest.approx(alone.value)
    assert (found.mean.low, found.mean.high) == pytest.approx((alone.low, alone.high), abs=0.02)


def test_a_criterion_that_is_undefined_takes_no_part_in_the_interval_of_the_mean():
    half = ratio_of_sums(np.array([1.0, 1.0, 0.0, 0.0]), np.ones(4), np.arange(4), 4)
    none = ratio_of_sums(np.zeros(4), np.zeros(4), np.arange(4), 4)
    found = mean_estimate([half, none], 4, n=4, rng=RNG(0))
    alone = mean_estimate([half], 4, n=4, rng=RNG(0))
    assert (found.value, found.n_undefined) == (0.5, 1)
    assert (found.low, found.high) == (alone.low, alone.high)
    assert found.low < 0.5 < found.high
