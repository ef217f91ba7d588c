import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.metrics.calibration.fitting import conformal_margin

rows = st.lists(
    st.tuples(st.integers(0, 20), st.integers(1, 5), st.integers(0, 6)), min_size=1, max_size=40
)
confidences = st.sampled_from([0.1, 0.5, 0.7, 0.8, 0.9, 0.95])


def columns(given_rows):
    return (np.array(column, dtype=float) for column in zip(*given_rows, strict=True))


@pytest.mark.no_cover
@given(rows, confidences)
def test_without_sources_it_is_the_distance_with_the_split_conformal_rank(given_rows, confidence):
    predicted, human, _ = columns(given_rows)
    distances = np.sort(np.abs(predicted - human))
    rank = int(np.ceil(round((len(distances) + 1) * confidence, 6)))
    expected = distances[rank - 1] if rank <= len(distances) else np.inf
    assert conformal_margin(human, predicted, confidence=confidence).margin == expected


@pytest.mark.no_cover
@given(rows, confidences)
def test_with_sources_each_weighs_the_same_and_the_new_one_too(given_rows, confidence):
    predicted, human, sources = columns(given_rows)
    distances, own = np.abs(predicted - human), np.unique(sources)
    expected = np.inf
    for distance in sorted(distances, reverse=True):
        shares = [np.mean(distances[sources == s] <= distance) for s in own]
        if sum(shares) / (len(own) + 1) >= confidence - 1e-9:
            expected = distance
    found = conformal_margin(human, predicted, sources=sources, confidence=confidence)
    assert found.margin == expected
    assert (found.n, found.n_groups) == (len(distances), len(own))


@pytest.mark.no_cover
@given(rows, confidences)
def test_for_whole_sources_the_largest_distance_of_each_counts(given_rows, confidence):
    predicted, human, sources = columns(given_rows)
    distances = np.abs(predicted - human)
    largest = np.array([distances[sources == s].max() for s in np.unique(sources)])
    found = conformal_margin(
        human, predicted, sources=sources, covers="source", confidence=confidence
    )
    once = conformal_margin(np.zeros(len(largest)), largest, confidence=confidence)
    assert found.margin == once.margin
    assert (
        found.margin
        >= conformal_margin(human, predicted, sources=sources, confidence=confidence).margin
    )


def test_equals_mapie():
    # MAPIE 1.6.0: SplitConformalRegressor(identity, confidence_level=c, prefit=True)
    # .conformalize(x[:, None], y).predict_interval([[3.0]]), half its length.
    x = np.arange(20) / 2
    y = x + np.sin(7 * x) * x / 3
    quoted = {0.8: 1.8330431, 0.9: 2.16361356, 0.95: 2.22542286}
    for confidence, margin in quoted.items():
        assert conformal_margin(y, x, confidence=confidence).margin == pytest.approx(margin)


@pytest.mark.parametrize(("confidence", "enough"), [(0.8, 4), (0.9, 9), (0.95, 19)])
def test_too_few_sources_give_the_whole_scale(confidence, enough):
    human = np.tile([1.0, 5.0], 10)
    for n in (enough - 1, enough):
        found = conformal_margin(human[:n], human[:n], confidence=confidence)
        assert found.margin == (np.inf if n < enough else 0)
    infinite = conformal_margin(human[:3], human[:3], confidence=confidence)
    low, high = infinite.interval([3, None])
    assert (low[0], high[0]) == (-np.inf, np.inf)
    assert np.isnan([low[1], high[1]]).all()
    low, high = infinite.interval([3], levels=[1, 2, 3, 4, 5])
    assert (low[0], high[0]) == (1, 5)
    assert conformal_margin([], []).margin == np.inf


def test_ends_move_out_to_levels_and_stop_at_the_scale():
    found = conformal_margin(np.zeros(9), np.full(9, 1.2))
    low, high = found.interval([2.2, 2.5, -3, 9, None], levels=[1, 2, 3, 4, 5])
    assert low.tolist()[:4] == [1, 1, 1, 5]
    assert high.tolist()[:4] == [4, 4, 1, 5]
    assert np.isnan([low[4], high[4]]).all()


def test_rounding_dust_does_not_move_an_end_to_the_next_level():
    found = conformal_margin(np.zeros(9), np.full(9, 0.3))
    low, high = found.interval([0.1 + 0.2, 0.7], levels=[0, 0.4, 0.6, 1])
    assert low.tolist() == [0, 0.4]
    assert high.tolist() == [0.6, 1]


def test_a_spread_widens_where_the_judge_is_unsure():
    rng = np.random.default_rng(0)
    spread = rng.uniform(0.1, 2, size=500)
    human = spread * rng.normal(size=500)
    found = conformal_margin(human, np.zeros(500), spread=spread, confidence=0.9)
    assert found.normalised
    assert found.margin == pytest.approx(1.645, abs=0.25)
    low, high = found.interval([3, 3], spread=[0.1, 1])
    assert (high - low).tolist() == pytest.approx([0.2 * found.margin, 2 * found.margin])


def test_unscored_rows_are_left_out_and_counted():
    found = conformal_margin(
        [1, 5, 4],
        pd.Series([1.0, np.nan, 2.0]),
        sources=["a", "b", "b"],
        spread=[1, np.nan, 2],
        confidence=0.5,
    )
    assert (found.margin, found.n, found.n_groups, found.n_unscored) == (1, 2, 2, 1)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"confidence": 90}, "confidence"),
        ({"covers": "rows"}, "covers must be one of"),
        ({"sources": [1]}, "one label per item"),
        ({"spread": [1, 0]}, "spread must be above 0; got 0.0 at index 1. Add a constant"),
        ({"spread": [1, np.nan]}, "spread must be above 0"),
        ({"spread": [1]}, "spread must hold one score per item"),
        ({"spread": ["a", "b"]}, "spread must be a vector of numbers"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings, said):
    with pytest.raises(ValueError, match=said):
        conformal_margin([1, 2], [1, 2], **settings)


def test_new_rows_that_do_not_fit_the_margin_are_refused():
    plain = conformal_margin([1, 2], [1, 2])
    normalised = conformal_margin([1, 2], [1, 2], spread=[1, 1])
    with pytest.raises(ValueError, match="leave it out"):
        plain.interval([1], spread=[1])
    with pytest.raises(ValueError, match="give spread= for the new rows"):
        normalised.interval([1])
    with pytest.raises(ValueError, match="above 0"):
        normalised.interval([1], spread=[-1])
    with pytest.raises(ValueError, match="levels must be increasing"):
        plain.interval([1], levels=[2, 1])
    with pytest.raises(ValueError, match="judge"):
        plain.interval(["x"])
    with pytest.raises(ValueError, match="judge"):
        plain.interval([np.inf])
    with pytest.raises(ValueError, match="human has no finite"):
        conformal_margin([None], [1])


def rated(rng, n_sources, size):
    sources = np.repeat(np.arange(n_sources), size)
    score = rng.uniform(1, 5, size=len(sources))
    bias = rng.normal(size=n_sources)[sources]
    return score, np.round(score + bias + 0.5 * rng.normal(size=len(sources))), sources


@pytest.mark.parametrize(("n_sources", "size"), [(12, 1), (12, 5), (60, 5)])
def test_new_rows_and_new_sources_are_covered_at_least_as_often_as_claimed(n_sources, size):
    rng = np.random.default_rng(0)
    shares = []
    for _ in range(250):
        score, human, sources = rated(rng, n_sources, size)
        new, rating, others = rated(rng, 100, size)
        inside = []
        for covers in ("row", "source"):
            margin = conformal_margin(human, score, sources=sources, covers=covers, confidence=0.8)
            low, high = margin.interval(new)
            inside.append((low <= rating) & (rating <= high))
        whole = np.bincount(others, weights=~inside[1]) == 0
        shares.append((inside[0].mean(), whole.mean()))
    # The standard error of these means is below 0.009.
    assert (np.mean(shares, axis=0) >= 0.8 - 0.018).all()
    assert np.mean(shares, axis=0)[1] < 0.9


def test_rows_of_few_sources_taken_for_sources_cover_too_little():
    rng = np.random.default_rng(1)
    shares = []
    for _ in range(200):
        error = np.repeat(rng.normal(size=4), 30) + 0.3 * rng.normal(size=120)
        margin = conformal_margin(np.zeros(120), error, confidence=0.8).margin
        new = rng.normal(size=500) + 0.3 * rng.normal(size=500)
        shares.append(np.mean(np.abs(new) <= margin))
    assert np.mean(shares) < 0.78
