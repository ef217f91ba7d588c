import numpy as np
import pytest

from judgesmith.metrics import pearson
from judgesmith.optimizers.fitting.cross_validation import (
    MOST_BLOCKS,
    CrossValidatedAgreement,
    SourceFolds,
)
from judgesmith.optimizers.objectives.agreement import Agreement
from judgesmith.optimizers.predictions import PredictionTable

PEARSON = Agreement("pearson")


def table(n, n_sources, seed=0, human=None):
    rng = np.random.default_rng(seed)
    human = rng.normal(size=n) if human is None else np.asarray(human, dtype=float)
    return PredictionTable(
        predicted=human, human=human, sources=np.arange(n) % n_sources, systems=np.zeros(n)
    )


def halves(rows, n_folds=2, n_repeats=5, seed=0):
    rng = np.random.default_rng(seed)
    return SourceFolds.of(rows, n_folds=n_folds, n_repeats=n_repeats, rng=rng)


def noisy(rows, size, seed=1):
    scores = rows.human + size * np.random.default_rng(seed).normal(size=rows.n)
    return lambda inside, outside: scores[outside]


def test_the_value_is_the_mean_of_the_agreements_within_each_predicted_part():
    rows = table(40, 20)
    crossed = halves(rows, n_folds=3)
    fitted = noisy(rows, 1.0)
    values = []
    for parts in crossed.parts:
        for part in range(3):
            outside = np.flatnonzero(parts == part)
            values.append(pearson(rows.human[outside], fitted(None, outside)))
    assert crossed.agreement(fitted, PEARSON).value == pytest.approx(np.mean(values))


def test_predictions_of_different_fits_are_not_put_in_one_list():
    # Each fit adds the mean of what it has seen: low where the predicted rows are high.
    rows = table(30, 30)
    order = np.random.default_rng(5).normal(size=30)

    def fitted(inside, outside):
        return 0.01 * order[outside] + rows.human[inside].mean()

    crossed = halves(rows)
    within = crossed.agreement(fitted, PEARSON).value
    shifted = crossed.agreement(lambda inside, outside: order[outside], PEARSON).value
    assert within == pytest.approx(shifted)


def test_the_error_is_the_jackknife_over_blocks_of_sources():
    rows = table(12, 6)
    crossed = halves(rows, n_repeats=2)
    assert len(np.unique(crossed.blocks)) == 6
    first, second = noisy(rows, 0.5), noisy(rows, 2.0, seed=2)
    found = [crossed.agreement(one, PEARSON) for one in (first, second)]
    moved = []
    for block in range(6):
        values = []
        for fitted in (first, second):
            parts_values = []
            for parts in crossed.parts:
                for part in range(2):
                    rest = np.flatnonzero((parts == part) & (crossed.blocks != block))
                    if len(rest) >= 3:
                        parts_values.append(pearson(rows.human[rest], fitted(None, rest)))
            values.append(np.mean(parts_values))
        moved.append(values[0] - values[1])
    behind, error = found[1].behind(found[0])
    assert behind == pytest.approx(found[0].value - found[1].value)
    assert error == pytest.approx(np.sqrt(5 / 6 * np.sum((moved - np.mean(moved)) ** 2)))


@pytest.mark.no_cover
def test_the_error_is_about_how_far_the_distance_varies_between_sets():
    distances, errors = [], []
    for seed in range(60):
        rows = table(60, 30, seed=seed)
        crossed = halves(rows, seed=seed)
        best, other = (
            crossed.agreement(noisy(rows, size, seed=1000 * size + seed), PEARSON)
            for size in (1, 2)
        )
        behind, error = other.behind(best)
        distances.append(behind)
        errors.append(error)
    assert 0.7 < np.mean(errors) / np.std(distances) < 1.4


def test_rows_of_one_source_are_in_one_half_and_one_block():
    rows = table(90, 45)
    crossed = halves(rows)
    for labels in (*crossed.parts, crossed.blocks):
        for source in range(45):
            assert len(set(labels[rows.sources == source])) == 1
    assert len(np.unique(crossed.blocks)) == MOST_BLOCKS


def test_halves_in_which_people_do_not_differ_say_nothing():
    rows = table(8, 2, human=[1, 1, 2, 1, 3, 1, 4, 1])
    crossed = halves(rows, n_repeats=3)
    found = crossed.agreement(lambda inside, outside: outside.astype(float), PEARSON)
    assert found.value == pytest.approx(pearson([1, 2, 3, 4], [0, 2, 4, 6]))


def test_a_way_that_is_constant_in_a_half_is_undefined_and_infinitely_far_behind():
    rows = table(20, 10)
    crossed = halves(rows)
    constant = crossed.agreement(lambda inside, outside: np.ones(len(outside)), PEARSON)
    assert np.isnan(constant.value)
    behind, error = constant.behind(crossed.agreement(noisy(rows, 1.0), PEARSON))
    assert behind == np.inf
    assert np.isnan(error)


def test_where_nothing_can_be_compared_the_value_is_undefined():
    rows = table(4, 4, human=[1, 1, 1, 1])
    assert np.isnan(halves(rows).agreement(noisy(rows, 1.0), PEARSON).value)


def test_a_way_is_not_behind_itself():
    one = CrossValidatedAgreement(value=0.5, without=np.array([0.4, 0.6]))
    assert one.behind(one) == (0.0, 0.0)
