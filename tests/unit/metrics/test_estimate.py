import dataclasses
import json

import pytest

from judgesmith.metrics import (
    Estimate,
    PairedEstimate,
    correlation,
    spearman_difference,
    weighted_kappa_interval,
)

FIELDS = {
    "value": 0.5,
    "low": float("nan"),
    "high": float("nan"),
    "confidence": 0.95,
    "n": 10,
    "n_groups": 5,
    "n_undefined": 0,
}


def test_an_estimate_becomes_json_with_null_for_undefined():
    text = json.dumps(Estimate(**FIELDS).to_dict(), allow_nan=False)
    assert json.loads(text) == FIELDS | {"low": None, "high": None}


def test_a_paired_estimate_adds_both_values_and_the_p_value():
    found = PairedEstimate(**FIELDS, first=0.7, second=0.2, p_value=0.04).to_dict()
    assert list(found) == [*FIELDS, "first", "second", "p_value"]


@pytest.mark.parametrize(
    ("low", "high", "p_value", "clear"),
    [
        (0.1, 0.9, 0.04, True),
        (-0.9, -0.1, 0.04, True),
        (0.1, 0.9, 0.06, False),
        (-0.1, 0.9, 0.04, False),
        (float("nan"), float("nan"), float("nan"), False),
    ],
)
def test_a_difference_is_clear_when_interval_and_p_value_say_so(low, high, p_value, clear):
    found = {**FIELDS, "low": low, "high": high, "p_value": p_value, "first": 0.7, "second": 0.2}
    assert PairedEstimate(**found).is_clear is clear


def test_over_fewer_than_five_groups_no_interval_is_reported_and_the_reason_is():
    few = {**FIELDS, "low": 0.1, "high": 0.9, "n_groups": 4, "first": 0.7, "second": 0.2}
    estimate = PairedEstimate(**few, p_value=0.01)
    assert not estimate.is_clear
    found = estimate.to_dict()
    assert found["low"] is found["high"] is found["p_value"] is None
    assert found["reason"] == "an interval needs 5 sources or more; got 4"


def test_an_estimate_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Estimate(**FIELDS).value = 1.0


HUMAN, JUDGE, OTHER = [1, 2, 3, 4, 5, 3], [1, 2, 3, 5, 4, 3], [3, 1, 2, 5, 3, 2]
TWO = [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (spearman_difference(HUMAN, JUDGE, OTHER), ("spearman difference", "by rows, n=6 rows)")),
        (
            spearman_difference(HUMAN, JUDGE, OTHER, sources=TWO, confidence=0.9),
            ("90% interval", "by sources, n=6 rows, 3 sources)"),
        ),
        (weighted_kappa_interval(HUMAN, JUDGE), ("linear-weighted kappa", "by rows, n=6 rows)")),
        (
            correlation.q_interval(
                *(HUMAN, JUDGE), sources=TWO, systems=[0, 1] * 3, level="system", resample="both"
            ),
            ("system-level q", "by sources and systems, n=6 rows, 2 sources and systems"),
        ),
        (
            correlation.lins_ccc_interval(HUMAN, JUDGE, sources=TWO, resample="items"),
            ("concordance", "by rows, n=6 rows)"),
        ),
    ],
)
def test_an_estimate_prints_its_statistic_the_resampled_unit_and_the_number_of_rows(found, said):
    assert all(part in repr(found) for part in said), found


@pytest.mark.parametrize("name", ["pearson", "spearman", "kendall", "lins_ccc", "q"])
def test_a_named_statistic_is_the_agreement_of_that_name(name):
    statistic = {"lins_ccc": "concordance"}.get(name, name)
    given = {"sources": TWO, "level": "dataset", "rng": 3, "n_resamples": 50}
    value, interval, difference = (
        getattr(correlation, f"{name}{end}") for end in ("", "_interval", "_difference")
    )
    assert interval(HUMAN, JUDGE, **given) == correlation.agreement_interval(
        HUMAN, JUDGE, statistic=statistic, **given
    )
    assert difference(HUMAN, JUDGE, other=OTHER, **given) == correlation.agreement_difference(
        HUMAN, JUDGE, OTHER, statistic=statistic, **given
    )
    labels = {"systems": [0, 1, 2, 2, 1, 0], "level": "system"}
    found = correlation.agreement(HUMAN, JUDGE, statistic=statistic, **labels)
    assert value(HUMAN, JUDGE, **labels) == found.value
    with pytest.raises(ValueError, match="sources="):
        value(HUMAN, JUDGE, level="sample")
