from dataclasses import replace

import numpy as np
import pytest

from judgesmith.cli.trust.compare import p_text, verdict
from judgesmith.data import read_items
from judgesmith.data.score_files import Scores
from judgesmith.experiments import compare_judges

NAN = float("nan")


@pytest.fixture(scope="module")
def found():
    """A comparison of two judges, the first a little better."""
    data = read_items("sample").subset(range(40))
    noise = np.random.default_rng(0)
    human = np.asarray([np.mean(item.human["overall"]) for item in data])
    sides = [
        Scores(
            values=human + noise.normal(scale=spread, size=40),
            problems=(None,) * 40,
            label=label,
            criterion=None,
            n_unused=0,
        )
        for label, spread in (("new", 0.5), ("old", 3.0))
    ]
    return compare_judges(*sides, data, rng=np.random.default_rng(0))


def with_gain(found, holm=0.01, **fields):
    """The same comparison, but for the estimate that decides and its adjusted p-value."""
    gain = replace(found.gain, **fields)
    report = {**found.unseen, "dataset": {**found.unseen["dataset"], "spearman": gain}}
    holm = {**found.tests.holm, "dataset": {**found.tests.holm["dataset"], "spearman": holm}}
    return replace(found, unseen=report, tests=replace(found.tests, holm=holm))


def gain(first, second, low, high, p_value=0.5):
    return {
        "first": first,
        "second": second,
        "value": first - second,
        "low": low,
        "high": high,
        "p_value": p_value,
    }


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (
            gain(0.5, 0.25, 0.1, 0.4, 0.004),
            "new agrees better with human ratings: Spearman 0.500 for new, 0.250 for old, "
            "difference +0.250 [+0.10, +0.40], p = 0.004, Holm-adjusted p = 0.010. The difference "
            "is significant at 0.05.",
        ),
        (
            gain(0.25, 0.5, -0.4, -0.1, 0.0001),
            "old agrees better with human ratings: Spearman 0.500 for old, 0.250 for new, "
            "difference +0.250 [+0.10, +0.40], p < 0.001, Holm-adjusted p = 0.010. The difference "
            "is significant at 0.05.",
        ),
        (
            gain(0.5, 0.25, -0.1, 0.6),
            "No significant difference: Spearman 0.500 for new, 0.250 for old, difference "
            "+0.250 [-0.10, +0.60], p = 0.500, Holm-adjusted p = 0.010.",
        ),
        (
            gain(1.5, 0.25, NAN, NAN, NAN) | {"n_groups": 2},
            "No significant difference: Spearman 1.500 for new, 0.250 for old, difference "
            "+1.250 [no interval]. 2 sources are too few for an interval.",
        ),
        (
            gain(0.5, 0.25, NAN, NAN, NAN),
            "No significant difference: Spearman 0.500 for new, 0.250 for old, difference "
            "+0.250 [no interval].",
        ),
        (
            gain(0.5, 0.5, 0, 0, 1),
            "new and old agree equally well with human ratings: Spearman 0.500 each.",
        ),
        (
            gain(0.5, NAN, NAN, NAN, NAN),
            "No result: Spearman is undefined for old.",
        ),
        (
            gain(NAN, NAN, NAN, NAN, NAN),
            "No result: Spearman is undefined for new and old.",
        ),
    ],
)
def test_the_verdict_says_who_by_how_much_and_how_sure(found, fields, said):
    assert verdict(with_gain(found, **fields)) == said


def test_a_difference_is_clear_by_the_adjusted_p_value_alone(found):
    known = gain(0.5, 0.25, 0.1, 0.4, 0.004)
    assert verdict(with_gain(found, holm=0.05, **known)).endswith("is significant at 0.05.")
    said = verdict(with_gain(found, holm=0.051, **known))
    assert said.endswith(
        "p = 0.004, Holm-adjusted p = 0.051. The interval excludes 0, but the p-value adjusted for "
        "all differences in the table is above 0.05."
    )
    assert with_gain(found, holm=0.051, **known).to_dict()["objective"]["better"] is None


def test_a_verdict_on_rows_that_were_seen_says_so(found):
    seen = replace(found, unseen=None, seen=found.unseen, a=replace(found.a, n_seen=40))
    assert " on rows that A was compiled from (there are no others): Spearman" in verdict(seen)
    both = replace(seen, b=replace(found.b, n_seen=3))
    assert " on rows that A or B was compiled from" in verdict(both)


def test_small_p_values_are_no_zeros():
    assert [p_text(p) for p in (0.00049, 0.0005, 1.0)] == ["<0.001", "0.001", "1.000"]
