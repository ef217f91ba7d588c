"""What every objective promises, whatever it looks at."""

from collections import namedtuple
from dataclasses import replace

import numpy as np
import pytest

import judgesmith
from judgesmith.optimizers import (
    AbsoluteError,
    Agreement,
    AverageDiscernment,
    CallsPerItem,
    Constrained,
    Constraint,
    DollarsPerItem,
    FalseAlarms,
    FunctionObjective,
    Kappa,
    LowestDiscernment,
    MetricObjective,
    NeighbourAccuracy,
    PredictionTable,
    ShareScored,
    TieAccuracy,
    VerdictCost,
    VerdictRate,
    WeightedSum,
    parse_objective,
)
from judgesmith.signatures import Scale

Kind = namedtuple("Kind", "name level lowers")
TYPOS, PADDING = Kind("typos", "character", True), Kind("padding", "sentence", False)

STATISTICS = ("q", "pearson", "spearman", "kendall", "kendall_c", "concordance")
ATOMS = [
    *(Agreement(one, level) for one in STATISTICS for level in ("dataset", "sample", "system")),
    *(Kappa(), Kappa("linear"), AbsoluteError(), TieAccuracy(), TieAccuracy("sample")),
    *(NeighbourAccuracy(), LowestDiscernment(), AverageDiscernment(), FalseAlarms()),
    *(ShareScored(), CallsPerItem(), DollarsPerItem()),
    FunctionObjective(lambda table: float(np.corrcoef(table.predicted, table.human)[0, 1])),
    MetricObjective(lambda example, found: 1 - abs(example - found.score / 25) / 5),
]
RATES = ("balanced_accuracy", "mcc", "f1", "tpr", "tnr")
OF_LABELS = [
    *map(VerdictRate, RATES),
    *(VerdictCost(), VerdictCost((("fail", 5.0), ("pass", 1.0)))),
    WeightedSum(((1, VerdictRate("mcc")), (-0.1, VerdictCost()))),
    Constrained(VerdictRate("tpr"), (Constraint(VerdictRate("tnr"), 0.4),)),
]
SUMS = [
    WeightedSum(((1, Agreement("q")), (0.5, Kappa()), (-0.01, CallsPerItem()))),
    WeightedSum(((1, Agreement("q", "sample")), (0.5, LowestDiscernment()))),
    Constrained(Agreement("q"), (Constraint(Kappa(), 0.2), Constraint(ShareScored(), 0.5))),
]


def labelled(table):
    """Return the table of a judge of labels: what has a rating of 3 or more passes."""
    scale = Scale.of_labels("fail", "pass")
    return replace(table, human=(table.human >= 3).astype(float), scale=scale)


@pytest.fixture
def table_for(objective):
    """Return what makes a table that the objective can look at."""
    alike = labelled if objective in OF_LABELS else lambda table: table
    return lambda **given: alike(table_of(**given))


def table_of(seed=0, n_sources=10):
    """Return judgements of four systems' responses, one in twenty without a score."""
    draw = np.random.default_rng(seed)
    n = 4 * n_sources
    human = draw.integers(1, 6, size=n).astype(float)
    predicted = np.clip(25 * (human - 1) + draw.normal(scale=20, size=n), 0, 100)
    predicted[::20] = np.nan
    damaged = np.stack([predicted - draw.uniform(0, 9, n), predicted + draw.normal(size=n)], axis=1)
    return PredictionTable(
        predicted=predicted,
        human=human,
        sources=np.repeat(np.arange(n_sources), 4),
        systems=np.tile(["a", "b", "c", "d"], n_sources),
        scale=Scale(low=1, high=5),
        judge_scale=Scale(low=0, high=100),
        n_calls=tuple(draw.integers(1, 4, size=n).tolist()),
        usd=tuple(draw.uniform(0, 0.1, size=n).tolist()),
        kinds=(TYPOS, PADDING),
        damaged=damaged,
        versioned=np.ones((n, 2), dtype=bool),
        examples=tuple(human.tolist()),
    )


@pytest.fixture(params=[*ATOMS, *SUMS, *OF_LABELS], ids=str)
def objective(request):
    return request.param


def test_it_is_within_its_bounds(objective, table_for):
    low, high = objective.bounds
    assert low <= objective.value(table_for()) <= high


def test_many_tables_have_the_numbers_of_each(objective, table_for):
    whole = table_for()
    tables = [whole, table_for(seed=1), whole.part(np.arange(8))]
    if isinstance(objective, Agreement):  # few rows, unscored ones, people of one mind, none
        alike = np.flatnonzero(whole.human == whole.human[0])
        tables += [whole.part(rows) for rows in (np.arange(2), np.array([0, 20]), alike, alike[:0])]
    each = [objective.value(table) for table in tables]
    assert objective.values(tables) == pytest.approx(each, rel=1e-12, nan_ok=True)


def test_its_text_is_read_as_the_same(objective):
    if "<" in str(objective).replace("<=", ""):
        pytest.skip("a function has no text")
    text = f"-{objective}" if objective.lower_is_better else str(objective)
    found = parse_objective(text)
    own = WeightedSum(((-1, objective),)) if objective.lower_is_better else objective
    assert (str(found), found) == (str(own), own)


def test_what_it_says_it_needs_is_what_it_looks_at(objective, table_for):
    """Without it there is no number, and what it does not need changes nothing."""
    table = table_for()
    value = objective.value(table)
    nothing = {
        "versions": replace(table, kinds=(), damaged=None, versioned=None),
        "controls": replace(table.of_kinds([TYPOS])),
        "scale": replace(table, scale=None, judge_scale=None),
        "calls": replace(table, n_calls=()),
        "usd": replace(table, usd=()),
    }
    for need, without in nothing.items():
        if need not in objective.needs:
            assert objective.value(without) == pytest.approx(value, abs=1e-12)
            continue
        with pytest.raises(judgesmith.InputError):
            objective.value(without)
    if "ratings" not in objective.needs:
        other = replace(table, human=table.human[::-1].copy())
        assert objective.value(other) == pytest.approx(value, abs=1e-12)


def test_the_parts_of_rows_add_up_to_it(objective, table_for):
    table = table_for(n_sources=6)
    parts = objective.row_parts(table)
    aim = objective.unconditional()
    assert np.nansum(parts) == pytest.approx(aim.value(table))


def test_every_source_once_is_the_number_itself(objective, table_for):
    table = table_for()
    counted = objective.counted(table, np.repeat(np.arange(10), 4), 10)
    assert counted.value == pytest.approx(objective.value(table))
    assert counted.of_counts(np.ones((1, 10)))[0] == pytest.approx(objective.value(table))


def test_a_judge_is_no_better_than_itself(objective, table_for):
    table = table_for()
    gain = objective.gain(table, table, seed=0)
    assert (gain.value, gain.low, gain.high) == (0, 0, 0)


def test_an_estimate_is_of_the_number(objective, table_for):
    table = table_for()
    found = objective.estimate(table, seed=0)
    assert found.value == pytest.approx(objective.unconditional().value(table))
    assert found.low <= found.value <= found.high


def test_what_is_made_of_others_asks_them(objective):
    assert objective.needs == frozenset().union(*(one.needs for one in objective.atoms))
    assert objective.within_sources == all(one.within_sources for one in objective.atoms)
    assert objective.is_effort == all(one.is_effort for one in objective.atoms)
