"""What every family of statistics promises: a number, its interval, a comparison of two judges."""

import inspect
import math

import numpy as np
import pytest
from looping import for_each

from judgesmith import metrics as m

LEVELS = [1, 2, 3, 4, 5]
DRAW = np.random.default_rng(7)
SOURCES = np.repeat(np.arange(24), 3)
HUMAN = np.clip(np.round(3 + DRAW.normal(size=24)[SOURCES] + DRAW.normal(size=72)), 1, 5)
JUDGE = np.clip(np.round(HUMAN + DRAW.normal(size=72)), 1, 5)
OTHER = np.clip(np.round(HUMAN + 2 * DRAW.normal(size=72)), 1, 5)

FAMILIES = {
    "pearson": {},
    "spearman": {},
    "kendall": {},
    "q": {},
    "weighted_kappa": {"levels": LEVELS},
    "tie_aware_accuracy": {},
}
DRAWN = ("pearson", "spearman", "kendall", "q", "weighted_kappa")


class Family:
    """A statistic ``x``, its ``x_interval`` and its ``x_difference``."""

    def __init__(self, name):
        self.name, self.settings = name, FAMILIES[name]
        self.functions = [getattr(m, f"{name}{end}") for end in ("", "_interval", "_difference")]

    def value(self, human=HUMAN, judge=JUDGE):
        found = self.functions[0](human, judge, **self.settings)
        return getattr(found, "value", found)

    def interval(self, human=HUMAN, judge=JUDGE, sources=SOURCES, **given):
        return self.functions[1](human, judge, sources=sources, **self.settings, **given)

    def difference(self, human=HUMAN, judge=JUDGE, other=OTHER, sources=SOURCES, **given):
        return self.functions[2](human, judge, other, sources=sources, **self.settings, **given)


@pytest.fixture(params=FAMILIES)
def family(request):
    return Family(request.param)


def test_arguments_come_in_one_order_and_the_rest_by_name(family):
    for function, first in zip(family.functions, (2, 2, 3), strict=True):
        given = inspect.signature(function).parameters.values()
        order = [one.name for one in given if one.kind is one.POSITIONAL_OR_KEYWORD]
        assert order == ["human", "judge", "other"][:first]
        by_name = {one.name: one.default for one in given if one.kind is one.KEYWORD_ONLY}
        if function is not family.functions[0]:
            assert (by_name["sources"], by_name["confidence"]) == (None, 0.95)
        if "seed" in by_name:
            assert by_name["seed"] == 0


def test_all_three_speak_of_one_number(family):
    found = family.difference()
    assert family.interval().value == pytest.approx(family.value())
    assert found.first == pytest.approx(family.value())
    assert found.second == pytest.approx(family.value(judge=OTHER))
    assert found.value == pytest.approx(found.first - found.second)
    for one in (family.interval(), found):
        assert one.low < one.value < one.high
        assert (one.n, one.n_groups) == (72, 24)


def test_more_confidence_is_a_wider_interval(family):
    for ask in (family.interval, family.difference):
        narrow, wide = ask(confidence=0.8), ask(confidence=0.99)
        assert wide.low < narrow.low < narrow.high < wide.high
        with pytest.raises(ValueError, match="confidence"):
            ask(confidence=1.5)


def test_the_order_of_rows_says_nothing(family):
    order = np.random.default_rng(1).permutation(72)
    human, judge, other, sources = (one[order] for one in (HUMAN, JUDGE, OTHER, SOURCES))
    assert family.value(human, judge) == pytest.approx(family.value())
    found = family.interval(human, judge, sources), family.difference(human, judge, other, sources)
    for one, as_given in zip(found, (family.interval(), family.difference()), strict=True):
        assert one.value == pytest.approx(as_given.value)
        if family.name not in DRAWN:
            assert (one.low, one.high) == pytest.approx((as_given.low, as_given.high))


@for_each("name", DRAWN)
def test_a_seed_and_its_generator_draw_the_same(name):
    for ask in (Family(name).interval, Family(name).difference):
        assert ask(seed=3) == ask(seed=np.random.default_rng(3)) == ask(seed=3)
        assert ask(seed=3) != ask(seed=4)
        with pytest.raises(TypeError, match="seed"):
            ask(seed="3")


def test_against_itself_a_judge_is_no_better(family):
    found = family.difference(other=JUDGE)
    assert found.value == 0
    assert not found.p_value < 1


def test_what_cannot_be_a_number_is_nan_and_counted(family):
    if family.name in ("pearson", "spearman", "kendall", "q"):
        flat = np.full(72, 3.0)
        found = family.interval(judge=flat)
        assert math.isnan(found.value)
        assert found.n_undefined == 1
        assert math.isnan(family.value(judge=flat))
        unscored = np.where(np.arange(72) < 9, np.nan, JUDGE)
        assert family.interval(judge=unscored).n == 63
    elif family.name == "weighted_kappa":
        threes = np.full(72, 3.0)
        assert math.isnan(family.value(threes, threes))
        assert family.interval(threes, threes).n_undefined == 1
    with pytest.raises(ValueError, match=r"human|finite|missing|score"):
        family.value(human=np.where(np.arange(72) < 1, np.nan, HUMAN))
    with pytest.raises(ValueError, match=r"72|one length|length"):
        family.interval(judge=JUDGE[:5])
