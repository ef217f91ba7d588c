import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from judgesmith.metrics.comparing.significance import benjamini_hochberg, holm

p_lists = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@pytest.mark.no_cover
@given(p_lists)
def test_holm_is_the_least_level_at_which_the_procedure_rejects(p):
    # Stepping down, the k-th smallest is rejected at alpha if every one up to it is small enough.
    order = np.argsort(p, kind="stable")
    adjusted = holm(p)
    for place, index in enumerate(order):
        needed = max((len(p) - k) * p[order[k]] for k in range(place + 1))
        assert adjusted[index] == pytest.approx(min(needed, 1))


@pytest.mark.no_cover
@given(p_lists)
def test_benjamini_hochberg_equals_that_of_scipy(p):
    expected = stats.false_discovery_control(p, method="bh")
    np.testing.assert_allclose(benjamini_hochberg(p), expected, atol=1e-12)


def test_both_equal_those_of_statsmodels():
    # statsmodels 0.15.0: multipletests(p, method="holm") and method="fdr_bh"
    p = [0.01, 0.04, 0.03, 0.005, 0.2, 0.04, 0.9]
    assert holm(p) == pytest.approx([0.06, 0.16, 0.15, 0.035, 0.4, 0.16, 0.9])
    found = benjamini_hochberg(p)
    assert found == pytest.approx([0.035, 0.056, 0.056, 0.035, 0.23333333333333336, 0.056, 0.9])


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
class TestBoth:
    @pytest.mark.no_cover
    @given(p_lists, st.integers(0, 12))
    def test_undefined_ones_stay_and_are_not_counted(self, adjust, p, place):
        with_gap = [*p[:place], float("nan"), *p[place:]]
        found = adjust(with_gap)
        at = min(place, len(p))
        assert np.isnan(found[at])
        np.testing.assert_array_equal(np.delete(found, at), adjust(p))

    @pytest.mark.no_cover
    @given(p_lists, st.randoms())
    def test_order_does_not_matter(self, adjust, p, random):
        order = list(range(len(p)))
        random.shuffle(order)
        found = adjust([p[place] for place in order])
        np.testing.assert_array_equal(found, adjust(p)[order])

    def test_one_comparison_needs_no_adjustment_and_none_gives_none(self, adjust):
        assert adjust([0.03]).tolist() == [0.03]
        assert adjust([]).tolist() == []
        assert np.isnan(adjust([None, float("nan")])).all()

    @pytest.mark.parametrize(
        ("given_values", "message"),
        [
            ([0.1, 1.2], "from 0 to 1, or nan; got 1.2 at index 1"),
            ([-0.1], "got -0.1 at index 0"),
            ([float("inf")], "got inf at index 0"),
            ([[0.1]], "must be a vector; got shape"),
            (0.1, "must be a vector; got shape"),
            (["a"], "must be an array of numbers"),
            (["0.01"], "must be an array of numbers"),
        ],
    )
    def test_what_is_no_p_value_is_refused(self, adjust, given_values, message):
        with pytest.raises(ValueError, match=message):
            adjust(given_values)


def test_false_findings_are_as_rare_as_claimed():
    rng = np.random.default_rng(0)
    any_false, shares = 0, []
    for _ in range(800):
        # 12 comparisons, of which the last 4 are of judges that do differ.
        z = rng.normal(size=12) + np.repeat([0.0, 3.0], [8, 4])
        p = 2 * stats.norm.sf(np.abs(z))
        any_false += (holm(p)[:8] <= 0.05).any()
        found = benjamini_hochberg(p) <= 0.05
        shares.append(found[:8].sum() / max(found.sum(), 1))
    assert any_false / 800 <= 0.06
    assert np.mean(shares) <= 0.05
