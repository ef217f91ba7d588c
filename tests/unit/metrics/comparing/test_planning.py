import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.metrics import Estimate, PairedEstimate
from judgesmith.metrics.comparing import sample_size_pearson
from judgesmith.metrics.comparing.planning import sources_needed, sources_to_compare
from judgesmith.metrics.resampling.intervals import agreement_difference, agreement_interval


def half_width(n, correlation, z=1.959963984540054):
    middle, reach = math.atanh(correlation), z / math.sqrt(n - 3)
    return (math.tanh(middle + reach) - math.tanh(middle - reach)) / 2


@given(st.floats(0.01, 0.9), st.floats(-0.98, 0.98))
def test_is_the_smallest_number_whose_interval_is_short_enough(width, correlation):
    n = sample_size_pearson(width, correlation)
    assert half_width(n, correlation) <= width * (1 + 1e-9)
    assert n == 4 or half_width(n - 1, correlation) > width * (1 - 1e-9)


@pytest.mark.parametrize(("size", "intraclass", "factor"), [(1, 1, 1), (4, 0, 1), (4, 0.5, 2.5)])
def test_clusters_multiply_by_the_design_effect(size, intraclass, factor):
    plain = sample_size_pearson(0.05, 0.4)
    found = sample_size_pearson(0.05, 0.4, cluster_size=size, intraclass=intraclass)
    assert found == pytest.approx(plain * factor, abs=2 * factor)


def test_intervals_of_that_many_normal_items_are_as_short_as_asked():
    rng = np.random.default_rng(0)
    n = sample_size_pearson(0.1, 0.6)
    x = rng.normal(size=(2000, n))
    y = 0.6 * x + 0.8 * rng.normal(size=(2000, n))
    correlations = [np.corrcoef(a, b)[0, 1] for a, b in zip(x, y, strict=True)]
    low, high = np.quantile(correlations, [0.025, 0.975])
    assert (high - low) / 2 == pytest.approx(0.1, abs=0.01)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"half_width": 0}, "half_width must be strictly between 0 and 1"),
        ({"correlation": 1}, "correlation must be strictly between -1 and 1; got 1"),
        ({"confidence": 95}, "confidence must be"),
        ({"cluster_size": 0.5}, "cluster_size must be at least 1"),
        ({"cluster_size": math.inf}, "cluster_size must be at least 1"),
        ({"intraclass": 1.5}, "intraclass must be from 0 to 1"),
    ],
)
def test_arguments_outside_their_range_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        sample_size_pearson(**{"half_width": 0.05, "correlation": 0.5} | change)


def pilot_of(half=0.1, n_groups=40, value=0.5, confidence=0.95):
    return Estimate(
        value=value,
        low=value - half,
        high=value + half,
        confidence=confidence,
        n=6 * n_groups,
        n_groups=n_groups,
        n_undefined=0,
    )


def paired_pilot_of(value=0.1, half=0.2, n_groups=40):
    plain = pilot_of(half, n_groups, value)
    return PairedEstimate(**plain.to_dict(), first=0.6, second=0.6 - value, p_value=0.3)


@given(st.floats(0.01, 0.5), st.integers(2, 400))
def test_the_half_width_of_a_pilot_needs_its_own_number_of_sources(half, n_groups):
    pilot = pilot_of(half, n_groups)
    assert sources_needed(pilot, half * (1 + 1e-9)) == n_groups


def test_half_the_width_needs_four_times_the_sources_once_there_are_many():
    pilot = pilot_of(n_groups=1000)
    assert sources_needed(pilot, 0.05) == pytest.approx(4000, rel=0.004)
    few = pilot_of(n_groups=10)
    assert sources_needed(few, 0.05) < 40


@pytest.mark.no_cover
def test_intervals_of_that_many_sources_are_as_short_as_asked():
    rng = np.random.default_rng(3)

    def found(n_sources, n_resamples=300):
        sources = np.repeat(np.arange(n_sources), 5)
        human = rng.normal(size=n_sources)[sources] + rng.normal(size=sources.size)
        judge = human + 0.7 * rng.normal(size=n_sources)[sources] + rng.normal(size=sources.size)
        return agreement_interval(
            human,
            judge,
            sources=sources,
            statistic="kendall",
            level="dataset",
            rng=rng,
            n_resamples=n_resamples,
        )

    needed = int(np.median([sources_needed(found(40), 0.05) for _ in range(15)]))
    halves = [(each.high - each.low) / 2 for each in (found(needed) for _ in range(15))]
    assert np.mean(halves) == pytest.approx(0.05, rel=0.1)


@pytest.mark.no_cover
def test_judges_are_told_apart_by_that_many_sources_as_often_as_asked():
    rng = np.random.default_rng(4)

    def found(n_sources):
        sources = np.repeat(np.arange(n_sources), 4)
        human = rng.normal(size=n_sources)[sources] + rng.normal(size=sources.size)
        first, second = (human + each * rng.normal(size=human.size) for each in (1.0, 1.25))
        return agreement_difference(
            human,
            first,
            second,
            sources=sources,
            statistic="pearson",
            level="dataset",
            rng=rng,
            n_resamples=300,
        )

    true = math.sqrt(2 / 3) - math.sqrt(2 / (2 + 1.25**2))
    needed = int(np.median([sources_to_compare(found(30), difference=true) for _ in range(15)]))
    told = np.mean([found(needed).low > 0 for _ in range(150)])
    assert told == pytest.approx(0.8, abs=0.1)


@given(st.floats(0.02, 0.5), st.floats(0.3, 0.99))
def test_smaller_differences_and_more_power_need_more_sources(difference, power):
    pilot = paired_pilot_of()
    needed = sources_to_compare(pilot, difference=difference, power=power)
    assert needed <= sources_to_compare(pilot, difference=difference / 2, power=power)
    assert needed <= sources_to_compare(pilot, difference=difference, power=(1 + power) / 2)
    assert sources_to_compare(pilot, difference=-difference, power=power) == needed


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sources_needed(pilot_of(), 0), "half_width must be above 0"),
        (lambda: sources_needed(pilot_of(), math.nan), "half_width must be above 0"),
        (lambda: sources_needed(pilot_of(half=0.0), 0.1), "interval of some length"),
        (lambda: sources_needed(pilot_of(half=math.nan), 0.1), "interval of some length"),
        (lambda: sources_needed(pilot_of(n_groups=1), 0.1), "two sources or more.*from 1"),
        (lambda: sources_needed(pilot_of(), 1e-7), "more than 1000000000 sources"),
        (lambda: sources_to_compare(paired_pilot_of(value=0.0)), "other than 0; got None"),
        (lambda: sources_to_compare(paired_pilot_of(), difference=0), "other than 0; got 0"),
        (lambda: sources_to_compare(paired_pilot_of(), power=1), "power must be"),
    ],
)
def test_pilots_and_goals_that_say_nothing_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_what_is_no_pilot_is_refused():
    with pytest.raises(TypeError, match="pilot must be an Estimate"):
        sources_needed(0.2, 0.1)
    for pilot in (0.2, pilot_of()):
        with pytest.raises(TypeError, match="pilot must be a difference of two judges"):
            sources_to_compare(pilot)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: sample_size_pearson(0.1, None), "correlation"),
        (lambda: sample_size_pearson(0.1, 0.5, cluster_size="4"), "cluster_size"),
        (lambda: sample_size_pearson(0.1, 0.5, intraclass=[0.1]), "intraclass"),
        (lambda: sources_needed(pilot_of(), "0.1"), "half_width"),
        (lambda: sources_to_compare(paired_pilot_of(), difference="0.1"), "difference"),
    ],
)
def test_what_is_no_number_is_refused(call, name):
    with pytest.raises(TypeError, match=f"{name} must be a number"):
        call()
