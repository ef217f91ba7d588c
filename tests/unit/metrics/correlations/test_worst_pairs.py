import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.metrics.correlation import levels as module
from judgesmith.metrics.correlation.levels import worst_pairs
from judgesmith.metrics.correlation.statistics import pearson

rows = st.lists(
    st.tuples(st.integers(0, 20), st.integers(1, 5), st.integers(0, 2)), min_size=1, max_size=25
)


def by_definition(predicted, human, sources, kind):
    """Look at every pair, and return those of the kind with their harm."""
    found = {}
    for a in range(len(human)):
        for b in range(len(human)):
            if sources[a] != sources[b] or human[a] <= human[b]:
                continue
            gap = (human[a] - human[b]) / np.std(human)
            if kind == "tied" and predicted[a] == predicted[b]:
                found[a, b] = gap
            elif kind == "reversed" and predicted[a] < predicted[b]:
                found[a, b] = gap * (predicted[b] - predicted[a]) / np.std(predicted)
    return found


@pytest.mark.no_cover
@given(rows, st.integers(1, 8), st.sampled_from(["reversed", "tied"]), st.booleans())
def test_they_are_the_worst_of_all_pairs(triples, n, kind, within):
    predicted, human, sources = (np.array(each) for each in zip(*triples, strict=True))
    found = worst_pairs(human, predicted, sources=sources if within else None, n=n, kind=kind)
    every = by_definition(predicted, human, sources if within else sources * 0, kind)
    assert [one.harm for one in found] == pytest.approx(sorted(every.values(), reverse=True)[:n])
    assert len({(one.better, one.worse) for one in found}) == len(found)
    for one in found:
        assert one.harm == pytest.approx(every[one.better, one.worse])
        assert one.human_gap == human[one.better] - human[one.worse] > 0
        assert one.predicted_gap == predicted[one.better] - predicted[one.worse] <= 0


@pytest.mark.parametrize("noise", [1.0, 0.01])
@pytest.mark.parametrize("within", [False, True])
def test_small_blocks_find_the_same_pairs(noise, within, monkeypatch):
    rng = np.random.default_rng(1)
    human = rng.normal(size=400)
    predicted = human + noise * rng.normal(size=400)
    sources = np.arange(400) % 3 if within else None
    whole = worst_pairs(human, predicted, sources=sources, n=25)
    monkeypatch.setattr(module, "_BLOCK_ROWS", 2)
    assert worst_pairs(human, predicted, sources=sources, n=25) == whole
    assert len(whole) == 25


def test_harms_of_all_pairs_are_what_pearson_is_made_of():
    rng = np.random.default_rng(0)
    human = rng.normal(size=30)
    predicted = human + rng.normal(size=30)
    against = sum(one.harm for one in worst_pairs(human, predicted, n=1000))
    # With the judge turned around, pairs in agreement are the reversed ones.
    towards = sum(one.harm for one in worst_pairs(human, -predicted, n=1000))
    assert (towards - against) / 30**2 == pytest.approx(pearson(human, predicted))


def test_a_worked_example():
    found = worst_pairs([3, 2, 1, 1], [0, 10, 10, 20])
    # Gaps 2 and 20, 1 and 10, 2 and 10, 1 and 10; standard deviations .829 and 7.07.
    assert [(one.better, one.worse) for one in found] == [(0, 3), (0, 2), (0, 1), (1, 3)]
    unit = np.std([3, 2, 1, 1]) * np.std([0, 10, 10, 20])
    np.testing.assert_allclose([one.harm for one in found], np.array([40, 20, 10, 10]) / unit)
    (tied,) = worst_pairs([3, 2, 1, 1], [0, 10, 10, 20], kind="tied")
    assert (tied.better, tied.worse, tied.human_gap, tied.predicted_gap) == (1, 2, 1.0, 0.0)


def test_unscored_rows_are_in_no_pair_and_places_are_those_of_the_rows_given():
    found = worst_pairs([9, 1, 9, 2], [np.nan, 2, None, 1], sources=["a", "b", "a", "b"])
    assert [(one.better, one.worse) for one in found] == [(3, 1)]


def test_rounding_noise_is_a_tie():
    assert worst_pairs([1, 2], [0.1 + 0.2, 0.3]) == ()
    assert len(worst_pairs([1, 2], [0.1 + 0.2, 0.3], kind="tied")) == 1


@pytest.mark.parametrize("kind", ["reversed", "tied"])
@pytest.mark.parametrize(
    ("predicted", "human"),
    [([], []), ([1], [1]), ([1, 2, 3], [1, 2, 3]), ([3, 1, 2], [4, 4, 4]), ([None, None], [1, 2])],
)
def test_where_nothing_contradicts_people_there_is_no_pair(predicted, human, kind):
    assert worst_pairs(human, predicted, kind=kind) == ()


def test_a_judge_that_says_the_same_of_everything_only_ties():
    assert worst_pairs([1, 2, 4], [5, 5, 5]) == ()
    found = worst_pairs([1, 2, 4], [5, 5, 5], kind="tied")
    assert [one.human_gap for one in found] == [3.0, 2.0, 1.0]


def test_the_largest_numbers_do_not_overflow():
    (found,) = worst_pairs([1e-320, 0.0], [-1.7e308, 1.7e308])
    assert found.predicted_gap == -np.inf
    assert found.harm == pytest.approx(4.0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n": 0}, "n must be a whole number from 1 to 1000; got 0"),
        ({"n": 1001}, "from 1 to 1000; got 1001"),
        ({"n": 2.5}, "from 1 to 1000; got 2.5"),
        ({"n": "3"}, "from 1 to 1000; got '3'"),
        ({"kind": "swapped"}, "kind must be one of .*'reversed', 'tied'.*'swapped'"),
        ({"sources": ["a"]}, "sources must hold one label per item"),
        ({"human": [1, np.nan]}, "human has no finite score"),
        ({"judge": [1, np.inf]}, "judge has no finite score"),
        ({"judge": [1, 2, 3]}, "got 3 scores of judge and 2 human"),
    ],
)
def test_what_cannot_be_looked_at_is_refused(change, message):
    given = {"judge": [1, 2], "human": [2, 1]} | change
    with pytest.raises(ValueError, match=message):
        worst_pairs(given.pop("human"), given.pop("judge"), **given)


@pytest.mark.no_cover
@pytest.mark.parametrize("ordinal", [False, True])
def test_many_rows_need_little_memory(ordinal):
    rng = np.random.default_rng(0)
    human = rng.normal(size=200_000)
    predicted = human + rng.normal(size=200_000)
    if ordinal:
        predicted, human = np.round(predicted), np.round(human)
    assert len(worst_pairs(human, predicted)) == 10
