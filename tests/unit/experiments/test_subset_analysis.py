from itertools import combinations

import numpy as np
import pytest
from scipy.stats import spearmanr

from judgesmith.experiments.panel.notes import subset_analysis
from judgesmith.optimizers.rows import Rows
from judgesmith.signatures import RatedItem, Scale

FIVE, TEN = Scale(low=1, high=5), Scale(low=0, high=10)


def rows_of(human):
    n = len(human)
    return Rows(
        items=tuple(RatedItem(source=str(k // 2), response=str(k)) for k in range(n)),
        human=np.asarray(human, dtype=float),
        groups=np.arange(n) // 2,
        systems=np.asarray([str(k % 2) for k in range(n)]),
        scale=FIVE,
    )


def test_every_subset_is_the_plain_mean_of_its_members_on_the_same_rows():
    rng = np.random.default_rng(0)
    human = rng.permutation(12) % 5 + 1
    scores = {name: (human + rng.normal(size=12)).tolist() for name in "abcd"}
    scores |= {"e": (10 * rng.random(12)).tolist()}
    scales = dict.fromkeys("abcd", FIVE) | {"e": TEN}
    found = subset_analysis(rows_of(human), scores, scales)
    assert len(found.subsets) == 31
    by_members = {one.members: one.values for one in found.subsets}
    shares = {name: np.asarray([scales[name].fraction(x) for x in scores[name]]) for name in scores}
    for size in range(1, 6):
        for members in combinations("abcde", size):
            together = np.mean([shares[name] for name in members], axis=0)
            clipped = np.clip(together, 0, 1)
            expected = spearmanr(clipped, human).statistic
            assert by_members[members]["spearman"] == pytest.approx(expected)
    values = [one.values["q"] for one in found.subsets]
    assert values == sorted(values, reverse=True)
    assert found.whole.members == tuple("abcde")
    means = found.by_size("q")
    assert means[5] == (found.whole.values["q"],) * 2
    singles = [one.values["q"] for one in found.subsets if len(one.members) == 1]
    assert means[1] == (pytest.approx(np.mean(singles)), max(singles))


def test_rows_that_a_member_has_no_score_of_are_left_out_for_all_and_counted():
    scores = {"a": [1, 2, None, 4, 5], "b": [2, None, 3, 4, 1]}
    found = subset_analysis(rows_of([1, 2, 3, 4, 5]), scores, dict.fromkeys("ab", FIVE))
    assert (found.n, found.n_left_out) == (3, 2)
    scores = {"a": [1, 2, None, 4, 5], "b": [2, None, 3, None, None]}
    with pytest.raises(ValueError, match="there are 1 of 5"):
        subset_analysis(rows_of([1, 2, 3, 4, 5]), scores, dict.fromkeys("ab", FIVE))


def test_what_is_undefined_comes_last_and_stays_out_of_means():
    scores = {"flat": [3, 3, 3, 3], "b": [1, 2, 3, 4]}
    found = subset_analysis(rows_of([1, 2, 3, 4]), scores, dict.fromkeys(scores, FIVE))
    assert found.subsets[-1].members == ("flat",)
    assert np.isnan(found.subsets[-1].values["q"])
    assert found.place_of(found.subsets[-1]) == 3
    assert found.by_size("q")[1][0] == pytest.approx(3)
    assert found.to_dict()["subsets"][-1]["values"]["q"] is None
    flat = subset_analysis(rows_of([1, 2]), {"flat": [3, 3]}, {"flat": FIVE})
    assert np.isnan(flat.by_size("q")[1][0])


def test_the_median_can_be_taken():
    scores = {"a": [1, 5, 5], "b": [1, 2, 4], "c": [1, 2, 4]}
    scales = dict.fromkeys(scores, FIVE)
    found = subset_analysis(rows_of([1, 2, 4]), scores, scales, middle="median")
    assert found.whole.values["pearson"] == pytest.approx(1)


@pytest.mark.parametrize(
    ("scores", "said"),
    [({}, "got 0"), ({str(n): [1, 2] for n in range(11)}, "got 11"), ({"a": [1]}, "a has 1")],
)
def test_scores_that_make_no_analysis_are_refused(scores, said):
    with pytest.raises(ValueError, match=said):
        subset_analysis(rows_of([1, 2]), scores, dict.fromkeys(scores, FIVE))
