import json

import numpy as np
import pytest

from judgesmith.experiments.evaluate.agreement import LEVELS, STATISTICS, gain_report
from judgesmith.experiments.evaluate.comparing import comparison_tests
from judgesmith.metrics import holm, permutation_test, tie_aware_accuracy
from judgesmith.metrics.comparing import williams_test
from judgesmith.optimizers.predictions import PredictionTable

pytestmark = pytest.mark.no_cover

SOURCES, SYSTEMS = np.repeat(np.arange(12), 5), np.tile(list("abcde"), 12)


def rng():
    return np.random.default_rng(3)


def tables(systems=SYSTEMS, missing=()):
    noise = np.random.default_rng(0)
    human = noise.normal(size=60)
    found = []
    for spread in (0.5, 1.5):
        predicted = human + noise.normal(scale=spread, size=60)
        predicted[list(missing)] = np.nan
        found.append(
            PredictionTable(predicted=predicted, human=human, sources=SOURCES, systems=systems)
        )
    return found


def all_tests(first, second):
    gain = gain_report(first, second, rng=rng())
    return gain, comparison_tests(first, second, gain, rng=rng())


def test_all_p_values_are_adjusted_together():
    gain, found = all_tests(*tables())
    plain = [gain[level][statistic].p_value for level in LEVELS for statistic in STATISTICS]
    plain += [one.p_value for one in found.pairs.values()]
    adjusted = [found.holm[level][statistic] for level in LEVELS for statistic in STATISTICS]
    adjusted += [found.holm[level]["pairs"] for level in found.pairs]
    assert adjusted == holm(plain).tolist()


def test_pairs_are_compared_within_sources_and_over_all():
    first, second = tables(missing=range(7))
    _, found = all_tests(first, second)
    kept = slice(7, None)
    human = first.human[kept]
    values = [tie_aware_accuracy(human, one.predicted[kept]) for one in (first, second)]
    assert found.pairs["dataset"].value == pytest.approx(values[0] - values[1])
    assert list(found.pairs) == ["dataset", "sample"]
    assert "pairs" not in found.holm["system"]


def test_systems_and_sources_change_hands_where_systems_are_named():
    first, second = tables()
    _, found = all_tests(first, second)
    assert found.swap == "both"
    direct = permutation_test(
        first.human,
        first.predicted,
        second.predicted,
        sources=SOURCES,
        systems=SYSTEMS,
        statistic="kendall",
        level="sample",
        swap="both",
        rng=np.random.default_rng(int(rng().integers(2**63))),
    )
    assert found.permutation["sample"]["kendall"] == direct


def test_sources_alone_change_hands_where_one_system_is_named_or_none():
    _, found = all_tests(*tables(systems=np.array([""] * 60)))
    assert found.swap == "inputs"
    assert found.permutation["dataset"]["pearson"].n_groups == 12
    assert np.isnan(found.permutation["system"]["pearson"].p_value)
    assert np.isnan(found.williams["system"].p_value)


def test_williams_takes_rows_and_the_means_of_systems():
    first, second = tables(missing=range(7))
    _, found = all_tests(first, second)
    kept = slice(7, None)
    by_rows = williams_test(first.human[kept], first.predicted[kept], second.predicted[kept])
    assert found.williams["dataset"] == by_rows
    assert (found.williams["dataset"].n, found.williams["system"].n) == (53, 5)
    means = [
        [np.mean(values[kept][SYSTEMS[kept] == system]) for system in "abcde"]
        for values in (first.human, first.predicted, second.predicted)
    ]
    assert found.williams["system"].statistic == pytest.approx(williams_test(*means).statistic)


def test_it_is_ready_for_json_and_undefined_is_null():
    _, found = all_tests(*tables(systems=np.array([""] * 60)))
    plain = found.to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["permutation"]["system"]["q"]["p_value"] is None
    assert plain["holm"]["system"]["pearson"] is None
    assert plain["williams"]["dataset"]["n_permutations"] == 0
    assert list(plain["permutation"]["sample"]["q"]) == [
        *("statistic", "p_value", "first", "second", "n", "n_groups", "n_undefined"),
        "n_permutations",
    ]
