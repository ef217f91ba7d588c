import numpy as np
import pytest

from judgesmith.metrics.correlation import contributions
from judgesmith.optimizers import PredictionTable, parse_objective
from judgesmith.signatures import Scale

OBJECTIVES = [
    "q",
    "pearson@sample",
    "kendall@system",
    "kappa",
    "ties",
    "q - .5*mae",
    "q - .01*calls",
    "spearman@sample + ties",
    "q; kappa >= .1",
]


def table(n=24, *, unscored=(), targets=()):
    rng = np.random.default_rng(1)
    predicted = rng.integers(0, 101, n).astype(float)
    predicted[list(unscored)] = np.nan
    return PredictionTable(
        predicted=predicted,
        human=rng.integers(1, 6, n).astype(float),
        sources=np.repeat(np.arange(n // 4), 4),
        systems=np.tile(list("abcd"), n // 4),
        targets=targets,
        n_calls=(1,) * n,
        scale=Scale(low=1, high=5),
        judge_scale=Scale(low=0, high=100),
    )


@pytest.mark.parametrize("text", OBJECTIVES)
@pytest.mark.parametrize("unscored", [(), (3, 7)])
def test_the_parts_add_up_to_the_objective(text, unscored):
    objective = parse_objective(text)
    rows = table(unscored=unscored)
    parts = objective.row_parts(rows)
    aim = getattr(objective, "aim", objective)
    assert np.nansum(parts) == pytest.approx(aim.value(rows))
    assert np.isnan(parts[list(unscored)]).all()


def test_the_parts_of_several_targets_add_up_to_their_mean():
    rows = table(targets=("score",) * 12 + ("wit",) * 12)
    objective = parse_objective("q")
    assert objective.row_parts(rows).sum() == pytest.approx(objective.value(rows))


def test_the_parts_of_a_correlation_are_its_contributions():
    rows = table()
    expected = contributions(
        rows.human,
        rows.predicted,
        sources=rows.sources,
        systems=rows.systems,
        statistic="q",
        level="dataset",
    )
    assert parse_objective("q").row_parts(rows) == pytest.approx(expected)


def test_the_part_of_an_error_grows_with_how_far_a_row_is_off():
    rows = table()
    parts = parse_objective("-mae").row_parts(rows)
    off = np.abs(1 + rows.predicted / 25 - rows.human)
    assert np.corrcoef(parts, -off)[0, 1] == pytest.approx(1.0)


@pytest.mark.parametrize("text", ["q", "kappa", "q - .5*mae"])
def test_without_an_objective_there_are_no_parts(text):
    rows = table(unscored=range(24))
    assert np.isnan(parse_objective(text).row_parts(rows)).all()
