import numpy as np
import pytest
from optimizing import examples

from judgesmith.optimizers.rows import rows_of
from judgesmith.optimizers.space.demonstrations import (
    CHOSEN,
    DRAW,
    NEAREST,
    ORDER,
    RUNS,
    Drawer,
    N,
    Pool,
    demonstration_choices,
)
from judgesmith.signatures import ActiveCriticConfig, Judgement
from judgesmith.signatures.space import Space

ROWS = rows_of(examples(range(12)))
VANILLA = ActiveCriticConfig(variant="vanilla")


def drawer(*, runs=None, seed=0):
    return Drawer(Pool(rows=ROWS, runs=runs or {}), seed)


def picked(n="3", chosen="stratified", draw="0", order="drawn", **more):
    return {N: n, CHOSEN: chosen, DRAW: draw, ORDER: order, **more}


def grades(shown, question="grade"):
    return [one.outputs["score"] for one in shown[question]]


def test_without_rows_to_show_there_is_nothing_to_choose():
    assert demonstration_choices(0, most=5, n_demo_sets=3) == ()
    assert demonstration_choices(20, most=0, n_demo_sets=3) == ()


@pytest.mark.parametrize(
    ("most", "numbers"),
    [(3, "3 0 1 2"), (4, "3 0 1 2 4"), (8, "3 0 1 2 5 8"), (2, "0 1 2"), (12, "3 0 1 2 5 8 12")],
)
def test_the_most_that_may_be_shown_competes(most, numbers):
    assert demonstration_choices(40, most=most, n_demo_sets=1)[0].ids == tuple(numbers.split())


def test_no_more_are_shown_than_there_are_rows():
    assert demonstration_choices(2, most=8, n_demo_sets=1)[0].ids == ("0", "1", "2")


def test_order_arises_from_two_on():
    found = demonstration_choices(40, most=3, n_demo_sets=1)[-1].only_if
    assert found == {N: ("3", "2"), CHOSEN: ("stratified", "random", "diverse")}
    assert ORDER not in [one.name for one in demonstration_choices(40, most=1, n_demo_sets=1)]


def test_runs_arise_only_where_a_judge_has_some():
    if_fine = {"variant": ("fine",)}
    found = demonstration_choices(40, most=1, n_demo_sets=1, with_runs_if=if_fine)
    drawn = {CHOSEN: ("stratified", "random", "diverse")}
    assert found[-1].only_if == {"variant": ("fine",), N: ("1",), **drawn}
    found = demonstration_choices(40, most=1, n_demo_sets=1, with_runs_if=None)
    assert RUNS not in [one.name for one in found]


@pytest.mark.parametrize("chosen", ["random", "stratified", "diverse"])
def test_the_same_configuration_shows_the_same_rows(chosen):
    twice = [drawer().shown(VANILLA, picked("5", chosen)) for _ in range(2)]
    assert twice[0] == twice[1]
    assert len({one.key for one in twice[0]["grade"]}) == 5


@pytest.mark.parametrize("chosen", ["random", "stratified", "diverse"])
def test_another_draw_or_seed_shows_others(chosen):
    first = drawer().shown(VANILLA, picked("5", chosen))
    assert first != drawer().shown(VANILLA, picked("5", chosen, draw="1"))
    assert first != drawer(seed=1).shown(VANILLA, picked("5", chosen))


def test_stratified_ones_span_the_human_scores():
    shown = sorted(grades(drawer().shown(VANILLA, picked("3"))))
    thirds = np.quantile(ROWS.percent(), [0, 1 / 3, 2 / 3, 1])
    for grade, low, high in zip(shown, thirds, thirds[1:], strict=False):
        assert low - 1 <= grade <= high + 1


def test_order_changes_the_order_alone():
    drawn, rising, falling = (
        drawer().shown(VANILLA, picked("5", order=order))
        for order in ("drawn", "rising", "falling")
    )
    assert grades(rising) == sorted(grades(drawn))
    assert grades(falling) == sorted(grades(drawn), reverse=True)
    assert {one.key for one in rising["grade"]} == {one.key for one in drawn["grade"]}


def test_runs_are_shown_as_the_configuration_says():
    run = Judgement(score=50, raw=50, explanation="it says so", criteria={})
    coarse = ActiveCriticConfig(variant="coarse")
    with_runs = drawer(runs=dict.fromkeys(range(len(ROWS)), run))
    counts = {}
    for runs in ("none", "some", "all"):
        shown = with_runs.shown(coarse, picked("5", **{RUNS: runs}))
        counts[runs] = sum(one.kind == "bootstrapped" for one in next(iter(shown.values())))
    assert counts["none"] == 0
    assert 1 <= counts["some"] <= 5
    assert counts["all"] == 5


class TestNearest:
    def test_there_is_nothing_more_to_decide_about_them(self):
        space = Space(choices=demonstration_choices(40, most=3, n_demo_sets=2))
        whole = space.complete({CHOSEN: NEAREST, DRAW: "1", ORDER: "rising", RUNS: "all"})
        assert whole == {N: "3", CHOSEN: NEAREST}

    def test_they_compete_only_where_there_are_more_rows_than_are_shown(self):
        for n_rows, competes in ((3, False), (4, True)):
            chosen = demonstration_choices(n_rows, most=3, n_demo_sets=1)[1]
            assert (chosen.name, NEAREST in chosen.ids) == (CHOSEN, competes)

    def test_all_rows_are_looked_among_up_to_a_bound(self):
        shown = drawer().shown(VANILLA, {N: "3", CHOSEN: NEAREST})
        assert len({one.key for one in shown["grade"]}) == len(shown["grade"]) == len(ROWS)
        bounded = Drawer(Pool(rows=ROWS, runs={}), 0, n_pool=5)
        few = bounded.shown(VANILLA, {N: "2", CHOSEN: NEAREST})
        assert len({one.key for one in few["grade"]}) == len(few["grade"]) == 5
        assert few == bounded.shown(VANILLA, {N: "3", CHOSEN: NEAREST})

    def test_they_are_labelled(self):
        run = Judgement(score=50, raw=50, explanation="it says so", criteria={})
        with_runs = drawer(runs=dict.fromkeys(range(len(ROWS)), run))
        shown = with_runs.shown(ActiveCriticConfig(variant="coarse"), {N: "3", CHOSEN: NEAREST})
        assert {one.kind for one in shown["rate"]} == {"labelled"}


def test_none_shows_none():
    assert drawer().shown(VANILLA, {N: "0"}) == {}
