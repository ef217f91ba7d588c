import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.metrics.audits.bias import self_preference

rows = st.lists(
    st.tuples(st.integers(1, 5), st.integers(1, 5), st.booleans()), min_size=4, max_size=20
)


def preference(predicted, human, own, seed=0, **settings):
    settings = {"n_resamples": 20} | settings
    return self_preference(human, predicted, own=own, rng=np.random.default_rng(seed), **settings)


def answers(rng, n_sources=30, better=0.0, favoured=0.0, noise=0.5):
    """Return judge, people, whose answer it is and sources; two of six systems are its own."""
    sources, systems = np.repeat(np.arange(n_sources), 6), np.tile(np.arange(6), n_sources)
    own = systems < 2
    quality = 0.5 * rng.normal(size=n_sources)[sources] + rng.normal(size=sources.size)
    quality = quality + better * own
    judge = quality + favoured * own + noise * rng.normal(size=sources.size)
    return judge, quality + 0.1 * rng.normal(size=sources.size), own, sources


@pytest.mark.no_cover
@given(rows)
def test_gaps_are_differences_of_standardised_means_and_a_coefficient(table):
    judge, human, own = (np.array(each) for each in zip(*table, strict=True))
    found = preference(judge, human, own)
    if min(np.ptp(judge), np.ptp(human), np.ptp(own.astype(int))) == 0:
        assert np.isnan(found.gap.value)
        return
    j, h = ((each - each.mean()) / each.std() for each in (judge, human))
    by_judge, by_people = (each[own].mean() - each[~own].mean() for each in (j, h))
    assert found.judge_gap.value == pytest.approx(by_judge)
    assert found.human_gap.value == pytest.approx(by_people)
    assert found.gap.value == pytest.approx((j - h)[own].mean() - (j - h)[~own].mean(), abs=1e-9)
    if abs(np.corrcoef(h, own)[0, 1]) < 0.999:
        design = np.stack([np.ones(len(j)), own, h], axis=1)
        coefficient = np.linalg.lstsq(design, j, rcond=None)[0][1]
        assert found.adjusted.value == pytest.approx(coefficient, abs=1e-9)
    assert (found.n_own, found.n_other) == (own.sum(), (~own).sum())


def test_scales_change_nothing_and_calling_the_others_own_turns_the_gaps_around():
    judge, human, own, sources = answers(np.random.default_rng(0), favoured=0.4)
    one = preference(judge, human, own, sources=sources)
    other = preference(3 * judge + 1, human / 7, own, sources=sources)
    around = preference(judge, human, ~own, sources=sources)
    for name in ("gap", "adjusted", "judge_gap", "human_gap"):
        first, second, third = (getattr(each, name) for each in (one, other, around))
        assert (first.value, first.low) == pytest.approx((second.value, second.low))
        assert (first.value, first.low) == pytest.approx((-third.value, -third.high))


@pytest.mark.no_cover
def test_a_judge_that_prefers_its_own_as_people_do_is_cleared_as_often_as_claimed():
    rng, gap, adjusted = np.random.default_rng(1), 0, 0
    for seed in range(300):
        found = preference(
            *answers(rng)[:3], seed, sources=np.repeat(range(30), 6), n_resamples=300
        )
        gap += found.gap.low <= 0 <= found.gap.high
        adjusted += found.adjusted.low <= 0 <= found.adjusted.high
    assert 0.91 <= gap / 300 <= 0.98
    assert 0.91 <= adjusted / 300 <= 0.98


def test_a_judge_that_favours_its_own_is_found():
    judge, human, own, sources = answers(np.random.default_rng(2), favoured=0.8)
    found = preference(judge, human, own, sources=sources, n_resamples=200)
    assert found.gap.low > 0
    assert found.adjusted.low > 0
    assert found.human_gap.low < 0 < found.human_gap.high


def test_noise_of_the_judge_hides_what_it_gives_its_own_from_the_plain_gap_only():
    found = preference(
        *answers(np.random.default_rng(3), n_sources=5000, better=1.0, noise=2.0)[:3]
    )
    assert found.gap.value < -0.2
    assert found.adjusted.value == pytest.approx(0, abs=0.05)


def test_answers_of_one_kind_or_constant_scores_are_undefined():
    for own in ([True] * 4, [False] * 4):
        found = preference([1, 2, 3, 4], [1, 2, 4, 3], own)
        assert np.isnan([found.gap.value, found.adjusted.value, found.judge_gap.low]).all()
    flat = preference([2, 2, 2, 2], [1, 2, 4, 3], [True, False] * 2)
    assert np.isnan([flat.gap.value, flat.adjusted.value]).all()
    assert np.isfinite(flat.human_gap.value)
    assert np.isnan(preference([], [], []).gap.value)
    assert preference([], [], []).n_own == 0


def test_unscored_rows_are_left_out_and_counted():
    judge, human, own, _ = answers(np.random.default_rng(4))
    judge[[0, 9]] = np.nan
    kept = ~np.isnan(judge)
    found, alone = preference(judge, human, own), preference(judge[kept], human[kept], own[kept])
    assert (found.n_unscored, found.gap) == (2, alone.gap)


def test_any_kind_of_vector_is_taken():
    given = preference(pd.Series([1.0, 3, 2, 5]), (1, 2, 3, 4), pd.Series([True, False] * 2))
    plain = preference([1, 3, 2, 5], [1, 2, 3, 4], [1, 0, 1, 0])
    assert given.gap.value == plain.gap.value


@pytest.mark.parametrize(
    ("own", "message"),
    [
        ([1, 2, 0], "own must say True or False"),
        ([True, False], "own must hold one score per item; got 2 for 3"),
        ([True, None, False], "own has no finite score for 1 of 3"),
        (["gpt", "gpt", "other"], "own must be a vector of numbers"),
    ],
)
def test_whose_answers_they_are_must_be_said(own, message):
    with pytest.raises(ValueError, match=message):
        preference([1, 2, 3], [1, 2, 3], own)
