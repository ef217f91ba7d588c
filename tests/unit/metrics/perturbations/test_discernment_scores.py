import numpy as np
import pytest

from judgesmith.metrics.perturbations.scores import average_discernment, discernment_score


def test_a_score_counts_in_powers_of_one_twentieth():
    assert discernment_score(np.log([0.05, 0.0025, 1])).tolist() == [1, 2, 0]
    assert not np.signbit(discernment_score(0.0))
    assert discernment_score(-1000.0) == pytest.approx(1000 / np.log(20))
    assert np.isnan(discernment_score(np.nan))


def test_a_probability_above_one_is_refused():
    with pytest.raises(ValueError, match=r"at most 0; got 0\.5"):
        discernment_score([0.5, -1])


def test_levels_weigh_the_same_and_perturbations_share_their_level():
    levels = ["character", "word", "character", "character"]
    assert average_discernment([1, 9, 2, 3], levels) == pytest.approx((2 + 9) / 2)
    assert average_discernment([1, np.nan, 2, 3], levels) == 2
    assert average_discernment([np.nan, 9, np.nan, 3], levels) == 6
    assert np.isnan(average_discernment([np.nan], ["sentence"]))
    assert np.isnan(average_discernment([], []))


@pytest.mark.parametrize(
    ("scores", "levels", "message"),
    [
        ([1, 2], ["word"], r"one level each; got shape \(2,\) and 1 levels"),
        ([[1]], ["word"], "must be a vector"),
        ([1, 2], ["word", "page"], "got 'page' at index 1"),
    ],
)
def test_says_what_is_wrong(scores, levels, message):
    with pytest.raises(ValueError, match=message):
        average_discernment(scores, levels)
