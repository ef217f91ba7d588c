import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.metrics.pairs.ordering import adjacent_accuracy, rounded_scores
from judgesmith.metrics.resampling.shares import share_interval

rated = st.lists(
    st.tuples(st.sampled_from([1.0, 2.0, 3.0, np.nan]), st.integers(1, 5), st.integers(0, 3)),
    max_size=25,
)


def columns(rows):
    return zip(*rows, strict=True) if rows else ([], [], [])


@pytest.mark.no_cover
@given(rated, st.integers(1, 2))
def test_every_pair_from_neighbouring_occupied_ratings_of_a_source_counts(rows, apart):
    predicted, human, sources = columns(rows)
    right, of, tied, unscored = [], [], 0, 0
    for source in dict.fromkeys(sources):
        own = [(p, h) for p, h, other in rows if other == source]
        occupied = sorted({h for _, h in own})
        for worse, better in zip(occupied, occupied[apart:], strict=False):
            for x in [p for p, h in own if h == worse]:
                for y in [p for p, h in own if h == better]:
                    if np.isnan(x) or np.isnan(y):
                        unscored += 1
                    else:
                        right.append(x < y)
                        of.append(source)
                        tied += x == y
    found = adjacent_accuracy(human, predicted, sources=sources, apart=apart)
    assert found.n_unscored == unscored
    assert found.n == len(right)
    assert found.n_groups == len(set(of))
    assert found.n_undefined == len(set(sources)) - len(set(of))
    assert found.tied == pytest.approx(tied / len(right) if right else np.nan, nan_ok=True)
    slow = share_interval(right, sources=of)
    ends = (found.value, found.low, found.high)
    assert ends == pytest.approx((slow.value, slow.low, slow.high), nan_ok=True)


def test_on_sequences_it_is_the_papers_formula():
    rng = np.random.default_rng(0)
    scores = rng.integers(1, 11, size=(30, 6))
    found = adjacent_accuracy(
        np.tile(np.arange(6), 30), scores.ravel(), sources=np.repeat(np.arange(30), 6)
    )
    expected = np.sum(scores[:, :-1] < scores[:, 1:]) / (30 * 5)
    assert found.value == pytest.approx(expected)


def test_sequences_of_unequal_length_are_weighted_by_their_pairs():
    # One pair right of the short sequence, one of three of the long one.
    found = adjacent_accuracy([0, 1, 0, 1, 2, 3], [1, 2, 1, 2, 2, 1], sources=list("aabbbb"))
    assert found.value == pytest.approx(2 / 4)
    assert found.tied == pytest.approx(1 / 4)


def test_a_judge_that_always_ties_is_always_wrong():
    found = adjacent_accuracy(np.tile(np.arange(4), 2), np.ones(8), sources=list("aaaabbbb"))
    assert (found.value, found.tied) == (0, 1)


def test_an_unscored_target_does_not_make_its_neighbours_neighbours():
    found = adjacent_accuracy([0, 1, 2], [1, None, 3], sources=list("aaa"))
    assert (found.n, found.n_unscored) == (0, 2)
    assert np.isnan(found.value)


def test_samples_are_averaged_and_what_is_missing_among_them_left_out():
    samples = [[7, 8, np.nan], [8, 8, 7], [np.nan, np.nan, np.nan]]
    assert rounded_scores(samples).tolist() == [
        7.5,
        pytest.approx(23 / 3),
        pytest.approx(np.nan, nan_ok=True),
    ]
    found = adjacent_accuracy([0, 1, 2], samples, sources=list("aaa"))
    assert (found.value, found.n, found.n_unscored) == (1, 1, 1)


def test_means_that_differ_by_rounding_alone_are_tied():
    samples = [[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]]
    assert np.mean(samples[0]) != np.mean(samples[1])
    for order in ([0, 1], [1, 0]):
        assert adjacent_accuracy(order, samples, sources=list("aa")).tied == 1


def test_large_scores_are_compared_as_they_are():
    assert adjacent_accuracy([0, 1], [-1e308, 1e308], sources=list("aa")).value == 1


@pytest.mark.no_cover
@given(rated)
def test_only_the_order_of_qualities_and_of_scores_counts(rows):
    predicted, human, sources = columns(rows)
    found = adjacent_accuracy(human, predicted, sources=sources)
    other = adjacent_accuracy(
        np.exp(human), -7 + 0.5 * np.array(predicted, float), sources=[f"s{one}" for one in sources]
    )
    assert repr(found) == repr(other)


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match="got 2 scores of judge and 1 human"):
        adjacent_accuracy([1], [1, 2], sources=list("a"))
    with pytest.raises(ValueError, match="human has no finite score"):
        adjacent_accuracy([1, None], [1, 2], sources=list("aa"))
    with pytest.raises(ValueError, match="row 1 is not"):
        adjacent_accuracy([1, 2], [1, np.inf], sources=list("aa"))
    with pytest.raises(ValueError, match="judge must be an array of numbers"):
        adjacent_accuracy([1, 2], ["x", "y"], sources=list("aa"))
    with pytest.raises(ValueError, match=r"shape \(n_rows,\)"):
        adjacent_accuracy([1, 2], np.ones((2, 2, 2)), sources=list("aa"))
    with pytest.raises(ValueError, match="one label per item"):
        adjacent_accuracy([1, 2], [1, 2], sources=list("a"))
    with pytest.raises(ValueError, match="apart must be 1 or more"):
        adjacent_accuracy([1, 2], [1, 2], sources=list("aa"), apart=0)
    with pytest.raises(TypeError, match="whole number"):
        adjacent_accuracy([1, 2], [1, 2], sources=list("aa"), apart=1.5)
    with pytest.raises(ValueError, match="more than the 10,000,000"):
        adjacent_accuracy(np.arange(8000) % 2, np.ones(8000), sources=np.zeros(8000))
    with pytest.raises(ValueError, match="confidence"):
        adjacent_accuracy([1, 2], [1, 2], sources=list("aa"), confidence=95)


def test_the_interval_covers_the_truth_about_as_often_as_it_claims():
    def draw(rng, n):
        # The steps of a sequence are harder to see in some sources than in others.
        noise = rng.gamma(2, 0.5, size=(n, 1))
        scores = np.arange(8) + noise * rng.normal(size=(n, 8))
        return scores.ravel(), np.tile(np.arange(8), n), np.repeat(np.arange(n), 8)

    judge, place, sources = draw(np.random.default_rng(5), 20_000)
    truth = adjacent_accuracy(place, judge, sources=sources).value
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(300):
        judge, place, sources = draw(rng, 20)
        found = adjacent_accuracy(place, judge, sources=sources)
        covered += found.low <= truth <= found.high
    assert 0.91 <= covered / 300 <= 0.99
