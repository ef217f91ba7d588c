"""The first sentences: they say what the interval says, and never more."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from looping import for_each
from scipy.stats import norm, t

from judgesmith.cli.shared.verdicts import (
    agreement_verdict,
    data_verdict,
    discern_verdict,
    rows_wanted,
)
from judgesmith.metrics import Estimate, PairedEstimate
from judgesmith.metrics.records import FEWEST_GROUPS
from judgesmith.metrics.resampling.draws import least_p
from judgesmith.optimizers.rows import split_by_source

SHARED = {"confidence": 0.95, "n_undefined": 0}
COMMANDS = {"use": "use", "label": "label {n}", "check": "check"}


def known(value, low, high, *, n=90, n_groups=30):
    return Estimate(value=value, low=low, high=high, n=n, n_groups=n_groups, **SHARED)


def gained(value, low, high, p, *, n_groups=60):
    return PairedEstimate(
        value=value,
        low=low,
        high=high,
        p_value=p,
        first=0.37 + value,
        second=0.37,
        n=90,
        n_groups=n_groups,
        **SHARED,
    )


def test_a_p_value_says_where_the_resamples_give_no_smaller_one():
    least = least_p(12, 1000)
    # By hand: Student's t with 11 degrees at the normal quantile of 1/1001, widened by 12/11.
    assert least == pytest.approx(2 * t.cdf(norm.ppf(1 / 1001) * math.sqrt(11 / 12), 11))
    found = agreement_verdict(
        known(0.6, 0.4, 0.7), gain=gained(0.2, 0.1, 0.3, least, n_groups=12), **COMMANDS
    )
    assert found.text.endswith("The gain is significant (p ≤ .013, unadjusted).")
    larger = agreement_verdict(
        known(0.6, 0.4, 0.7), gain=gained(0.2, 0.1, 0.3, 0.02, n_groups=12), **COMMANDS
    )
    assert larger.text.endswith("(p = .020, unadjusted).")


def test_a_good_judge_is_told_with_its_baseline_and_its_raters():
    found = agreement_verdict(
        known(0.56, 0.38, 0.70), gain=gained(0.19, 0.06, 0.33, 0.004), raters=0.86, **COMMANDS
    )
    assert found.text == (
        "r = 0.56 [0.38, 0.70] with human ratings on 90 test rows; baseline 0.37; raters among "
        "themselves 0.86. The gain is significant (p = .004, unadjusted)."
    )
    assert (found.tone, found.next_command) == ("good", "use")


@for_each(
    ("estimate", "said", "tone", "command"),
    [
        (known(0.1, -0.05, 0.25), "may be zero", "bad", "check"),
        (known(0.2, -0.3, 0.6), "rate about", "bad", "label"),
        (known(-0.4, -0.6, -0.2), "against the raters", "bad", "check"),
        (known(0.5, 0.1, 0.8), "Too little data", "open", "label"),
        (known(0.5, math.nan, math.nan), "too few for an interval", "open", "label"),
        (known(0.5, 0.4, 0.6, n_groups=3), "too few for an interval", "open", "label"),
        (known(math.nan, math.nan, math.nan), "undefined", "bad", "check"),
        (None, "No scored test rows", "open", "check"),
    ],
)
def test_what_an_interval_means(estimate, said, tone, command):
    found = agreement_verdict(estimate, **COMMANDS)
    assert said in found.text
    assert (found.tone, found.next_command.split()[0]) == (tone, command)


@for_each(
    ("gain", "said"),
    [
        (gained(0.1, -0.02, 0.2, 0.01), "not significant"),
        (gained(0.1, 0.02, 0.2, 0.2), "not significant"),
        (gained(-0.1, -0.2, -0.05, 0.001), "significantly worse"),
        (gained(0.1, 0.05, 0.2, 0.0001), "is significant (p < .001, unadjusted)"),
        (gained(0.0, 0.0, 0.0, 1.0), "equals the baseline"),
    ],
)
def test_a_gain_is_significant_by_interval_and_p_value(gain, said):
    assert said in agreement_verdict(known(0.5, 0.4, 0.6), gain=gain).text


@given(
    st.floats(-1, 1),
    st.floats(0, 1),
    st.floats(0, 1),
    st.integers(5, 500),
)
def test_no_verdict_contradicts_its_interval(value, below, above, n):
    low, high = max(value - below, -1.0), min(value + above, 1.0)
    found = agreement_verdict(known(value, low, high, n=n), **COMMANDS)
    assert (found.tone == "bad") == (low <= 0)
    assert ("may be zero" in found.text) == (low <= 0 <= high)
    assert ("against the raters" in found.text) == (high < 0)
    if found.tone == "good":
        assert high - low <= 0.4 + 1e-9


def test_more_rows_are_asked_for_as_the_interval_is_wide():
    assert rows_wanted(known(0.5, 0.4, 0.6)) == 0
    assert rows_wanted(known(0.5, 0.2, 0.8)) == 270


def test_data_are_ready_or_too_few():
    ready = data_verdict(n_rated=160, n_sources=40, half_width=0.12, raters=0.87, name="a.csv")
    assert ready.text.startswith("Ready to compile: 160 rated rows from 40 sources")
    assert "0.87" in ready.text
    assert ready.next_command == "judgesmith compile a.csv -o judge"
    few = data_verdict(n_rated=20, n_sources=3, half_width=0.4, raters=math.nan, name="a.csv")
    assert "Rate about 40 more rows" in few.text
    assert few.tone == "bad"
    little = data_verdict(n_rated=60, n_sources=20, half_width=0.21, raters=math.nan, name="a.csv")
    assert little.tone == "open"
    assert little.text.startswith("Little data")
    unrated = data_verdict(n_rated=0, n_sources=9, half_width=math.nan, raters=math.nan, name="a")
    assert "--objective d_avg" in unrated.next_command


def test_sources_that_leave_too_few_to_test_on_are_told_with_how_many_more():
    facts = {"n_rated": 400, "half_width": 0.08, "raters": math.nan, "name": "a.csv"}
    few = data_verdict(n_sources=12, **facts)
    assert few.tone == "open"
    assert "compile tests on 4 sources, and an interval needs 5: rate" in few.text
    assert "4 more." in few.text
    codes = np.arange(16)
    split = split_by_source(codes, np.zeros(16), rng=np.random.default_rng(0))
    assert len(split.heldout) == FEWEST_GROUPS  # as compile splits
    assert data_verdict(n_sources=16, **facts).text.startswith("Ready")
    assert data_verdict(n_sources=15, **facts).text.startswith("Too few sources")


def test_damage_that_is_missed_or_preferred_is_named():
    kinds = {"untested": 1, "n_originals": 12, "false_alarms": (), "holm": {"a": 0.01, "b": 0.1}}
    found = discern_verdict(detected=["a", "b"], missed=["c"], preferred=(), **kinds)
    assert "detects 2 of 3 kinds of damage (1 after Holm's adjustment)." in found.text
    mixed = discern_verdict(detected=["a", "b"], missed=[], preferred=(), n_mixed=1, **kinds)
    assert "2 of 2 kinds of damage, 1 of them with another criterion rising (1 after" in mixed.text
    assert "misses c" in found.text
    assert found.tone == "open"
    found = discern_verdict(detected=["a"], missed=[], preferred=["d"], **kinds)
    assert found.tone == "bad"
    assert "higher: d" in found.text
    assert discern_verdict(detected=["a"], missed=[], preferred=(), **kinds).tone == "good"
    nothing = discern_verdict(detected=[], missed=[], preferred=(), **kinds)
    assert "Too little data" in nothing.text
