from typing import get_args

import numpy as np
import pytest

from judgesmith.metrics.correlation.coefficients import Statistic
from judgesmith.metrics.correlation.levels import Level, agreement, contributions

STATISTICS, LEVELS = get_args(Statistic), get_args(Level)


def table(seed=4, *, ordinal=True):
    """Return ragged rows of 12 sources and 5 systems, some unscored, one source constant."""
    rng = np.random.default_rng(seed)
    cells = [(s, k) for s in range(12) for k in range(5) if rng.random() < 0.9]
    sources, systems = (np.array(each) for each in zip(*cells, strict=True))
    human = rng.integers(1, 6, size=len(cells)).astype(float)
    predicted = human + rng.normal(size=len(cells))
    if ordinal:
        predicted = predicted.round()
    predicted[sources == 3] = human[sources == 3] = 2.0
    predicted[[5, 20]] = np.nan
    return predicted, human, {"sources": sources, "systems": systems}


def scaled_kendall(x, y):
    """Return each row's half of its pairs, and twice what tau-b divides by."""
    sx, sy = (np.sign(np.subtract.outer(each, each)) for each in (x, y))
    return (sx * sy).sum(axis=1), np.sqrt(np.sum(sx != 0) * np.sum(sy != 0))


@pytest.mark.no_cover
@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("ordinal", [False, True])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_parts_sum_to_the_agreement(statistic, level, ordinal, seed):
    predicted, human, labels = table(seed, ordinal=ordinal)
    parts = contributions(human, predicted, **labels, statistic=statistic, level=level)
    found = agreement(human, predicted, **labels, statistic=statistic, level=level)
    assert np.nansum(parts) == pytest.approx(found.value, abs=1e-12)
    left_out = np.isnan(predicted)
    if level == "sample":
        for source in range(12):
            own = labels["sources"] == source
            alone = agreement(
                human[own], predicted[own], sources=[0] * sum(own), statistic=statistic, level=level
            )
            left_out |= own & np.isnan(alone.value)
        assert left_out[labels["sources"] == 3].all()
    np.testing.assert_array_equal(np.isnan(parts), left_out)


@pytest.mark.parametrize("ordinal", [False, True])
class TestOneList:
    def parts(self, statistic, ordinal):
        predicted, human, labels = table(ordinal=ordinal)
        scored = ~np.isnan(predicted)
        found = contributions(human, predicted, **labels, statistic=statistic, level="dataset")
        return found[scored], predicted[scored], human[scored]

    def test_a_part_in_pearson_is_a_product_of_standard_scores_over_n(self, ordinal):
        found, x, y = self.parts("pearson", ordinal)
        zx, zy = ((each - each.mean()) / each.std() for each in (x, y))
        np.testing.assert_allclose(found, zx * zy / len(x))

    def test_a_part_in_kendall_is_half_of_the_pairs_of_a_row(self, ordinal):
        found, x, y = self.parts("kendall", ordinal)
        net, scale = scaled_kendall(x, y)
        np.testing.assert_allclose(found, net / scale)

    def test_a_part_in_concordance_falls_with_the_squared_distance_alone(self, ordinal):
        found, x, y = self.parts("concordance", ordinal)
        unrelated = np.mean((x[:, None] - y) ** 2)
        np.testing.assert_allclose(found, (1 - (x - y) ** 2 / unrelated) / len(x))

    def test_a_part_in_q_is_the_sum_of_three(self, ordinal):
        found, *_ = self.parts("q", ordinal)
        parts = [self.parts(one, ordinal)[0] for one in ("pearson", "spearman", "kendall")]
        np.testing.assert_allclose(found, np.sum(parts, axis=0))


def test_the_rows_of_a_system_share_its_part_equally():
    predicted, human, labels = table()
    parts = contributions(human, predicted, **labels, statistic="pearson", level="system")
    for system in range(5):
        own = parts[(labels["systems"] == system) & ~np.isnan(parts)]
        np.testing.assert_allclose(own, own[0])


def test_at_sample_level_a_part_is_that_within_the_source_over_the_number_of_sources():
    predicted, human, labels = table()
    parts = contributions(human, predicted, **labels, statistic="q", level="sample")
    own = labels["sources"] == 7
    alone = contributions(
        human[own], predicted[own], sources=labels["sources"][own], statistic="q", level="dataset"
    )
    n_defined = len(set(labels["sources"][~np.isnan(parts)]))
    np.testing.assert_allclose(parts[own], alone / n_defined)


@pytest.mark.no_cover
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize(
    ("predicted", "human"),
    [([2, 2, 2], [2, 2, 2]), ([None] * 3, [1, 2, 3]), ([], []), ([np.nan, 5, np.nan], [1, 2, 3])],
)
def test_an_undefined_agreement_has_no_parts(predicted, human, statistic, level):
    n = len(human)
    parts = contributions(
        human, predicted, sources=[0] * n, systems=range(n), statistic=statistic, level=level
    )
    assert parts.shape == (n,)
    assert np.isnan(parts).all()


def test_two_rows_have_no_parts_in_q():
    parts = contributions([1, 2], [1, 2], sources=[0, 0], statistic="q", level="sample")
    assert np.isnan(parts).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"level": "item"}, "level must be one of"),
        ({"statistic": "rho"}, "statistic must be one of"),
        ({"level": "system"}, "needs systems="),
        ({"sources": [0]}, "one label per item"),
        ({"human": [1, np.nan, 2]}, "human has no finite score"),
        ({"judge": [1, np.inf, 2]}, "judge has no finite score"),
    ],
)
def test_what_cannot_be_computed_is_refused(change, message):
    given = {
        "judge": [1, 2, 3],
        "human": [1, 2, 3],
        "sources": [0, 0, 1],
        "statistic": "q",
        "level": "dataset",
    } | change
    with pytest.raises(ValueError, match=message):
        contributions(given.pop("human"), given.pop("judge"), **given)


@pytest.mark.no_cover
@pytest.mark.parametrize("ordinal", [False, True])
def test_a_hundred_thousand_rows_need_no_pairs(ordinal):
    rng = np.random.default_rng(0)
    y = rng.normal(size=10**5)
    x = y + rng.normal(size=10**5)
    if ordinal:
        x, y = np.round(x * 30), np.round(y)
    given = {"sources": np.arange(10**5) // 7, "statistic": "q"}
    for level in ("dataset", "sample"):
        parts = contributions(y, x, **given, level=level)
        assert np.nansum(parts) == pytest.approx(agreement(y, x, **given, level=level).value)
