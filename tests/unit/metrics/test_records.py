"""Inside metrics: records."""

import dataclasses
import datetime as dt
import json

import numpy as np
import pytest
from looping import for_each

import judgesmith.metrics as metrics
from judgesmith.metrics import (
    PairedEstimate,
    correlation,
    spearman_difference,
    weighted_kappa_interval,
)
from judgesmith.metrics.records import Record, plain

# -- record --------------------------------------------------------------------------------------


def rng():
    return np.random.default_rng(0)


JUDGE, HUMAN = [1, 2, 2, 4, 5, 5, None, 3], [1, 2, 3, 3, 5, 4, 2, 2]
LABELS = np.array([0, 0, 1, 1, 2, 2, 3, 3])
SPANS, GOLD = [[(0, 4)], None, [(1, 2)]], [[(0, 3)], [], [(4, 5)]]
RESULTS = {
    "spans": lambda: metrics.spans.span_character_agreement(GOLD, SPANS, seed=rng()),
    "risk and coverage": lambda: metrics.calibration.risk_coverage(
        HUMAN, certainty=JUDGE, sources=LABELS
    ),
    "calibration": lambda: metrics.calibration_error(HUMAN, JUDGE, n_bins=2),
    "a bin": lambda: metrics.calibration.reliability_table(HUMAN, JUDGE, n_bins=2)[0],
    "probabilities": lambda: metrics.calibration.probability_errors(
        [[0.5, 0.5]], [1], levels=[1, 2]
    ),
    "a margin": lambda: metrics.calibration.conformal_margin(HUMAN, JUDGE, confidence=0.5),
    "no margin": lambda: metrics.calibration.conformal_margin(HUMAN, JUDGE, confidence=0.99),
    "no threshold": lambda: metrics.calibration.certified_threshold(
        [1, 0], certainty=[1, 2], max_risk=0.1, seed=rng()
    ),
    "a mean": lambda: metrics.systems.prediction_powered_mean(HUMAN, JUDGE, [1, 2, 3]),
    "a system": lambda: metrics.systems.system_means(HUMAN, JUDGE, systems=LABELS)[0],
    "two systems": lambda: metrics.systems.system_difference(
        HUMAN, JUDGE, systems=LABELS, first=0, second=3
    ),
    "groups": lambda: metrics.audits.group_gaps(HUMAN, JUDGE, LABELS > 1, seed=rng()),
    "length": lambda: metrics.audits.length_bias(HUMAN, JUDGE, range(1, 9), seed=rng()),
    "first place": lambda: metrics.audits.position_bias([1, 0, 1], [0, 0, None], seed=rng()),
    "places": lambda: metrics.audits.place_effects(JUDGE, LABELS, seed=rng()),
    "scale": lambda: metrics.audits.scale_use(JUDGE),
    "own family": lambda: metrics.audits.self_preference(HUMAN, JUDGE, own=LABELS > 1, seed=rng()),
    "level": lambda: metrics.correlation.agreement(
        [1, 3, 2], [1, 2, 3], sources=[0, 0, 0], systems=[0, 1, 2], level="sample", statistic="q"
    ),
}


@for_each("name", RESULTS)
def test_every_record_is_json_with_its_fields_in_order(name):
    found = RESULTS[name]()
    kept = found.to_dict()
    assert json.loads(json.dumps(kept, allow_nan=False)) == kept
    names = [field.name for field in dataclasses.fields(found)]
    assert [key for key in kept if not key.endswith("_is")] == names


def test_every_record_of_results_can_be_kept():
    without = {
        name
        for name in metrics.__all__
        if dataclasses.is_dataclass(record := getattr(metrics, name))
        and not hasattr(record, "to_dict")
    }
    # Given by the caller, no result.
    assert without <= {"RatedPart"}


def test_what_is_infinite_is_none_with_a_word_why():
    margin = metrics.calibration.conformal_margin([1, 3], [1, 2])
    kept = margin.to_dict()
    assert kept["margin"] is None
    assert kept["margin_is"] == "infinite: too few sources for the confidence"
    assert metrics.calibration.ConformalMargin.from_dict(json.loads(json.dumps(kept))) == margin


@pytest.mark.parametrize(
    ("losses", "wished", "infinite", "said"),
    [
        ([1] * 50, 0.1, np.inf, "infinite: no candidate could be certified, so no row is accepted"),
        ([0] * 50, 0.5, -np.inf, "minus infinite: every row is accepted"),
    ],
)
def test_a_threshold_without_bound_says_what_it_accepts(losses, wished, infinite, said):
    found = metrics.calibration.certified_threshold(
        losses, certainty=np.arange(50), max_risk=wished, n_candidates=2, seed=rng()
    )
    assert found.threshold == infinite
    kept = found.to_dict()
    assert (kept["threshold"], kept["threshold_is"]) == (None, said)
    back = metrics.calibration.CertifiedThreshold.from_dict(json.loads(json.dumps(kept)))
    assert back.threshold == infinite
    assert back.to_dict() == kept


def test_finite_thresholds_and_margins_come_back_as_they_were():
    losses = np.repeat([0, 1], 60)
    threshold = metrics.calibration.certified_threshold(
        losses, certainty=-np.arange(120), max_risk=0.3, seed=rng()
    )
    assert np.isfinite(threshold.threshold)
    assert metrics.calibration.CertifiedThreshold.from_dict(threshold.to_dict()) == threshold
    margin = metrics.calibration.conformal_margin(HUMAN, JUDGE, confidence=0.5)
    assert metrics.calibration.ConformalMargin.from_dict(margin.to_dict()) == margin


def test_an_infinite_number_without_a_reason_is_named():
    @dataclasses.dataclass(frozen=True)
    class Ratio(Record):
        up: float
        down: float

    assert Ratio(np.inf, -np.inf).to_dict() == {
        "up": None,
        "up_is": "infinite",
        "down": None,
        "down_is": "minus infinite",
    }


def test_labels_of_any_kind_are_plain():
    day = dt.date(2024, 5, 1)
    assert plain({1: (np.int64(2), day), "a": frozenset(["b"])}) == {
        "1": [2, "2024-05-01"],
        "a": ["b"],
    }


# -- estimate ------------------------------------------------------------------------------------


FIELDS = {
    "value": 0.5,
    "low": float("nan"),
    "high": float("nan"),
    "confidence": 0.95,
    "n": 10,
    "n_groups": 5,
    "n_undefined": 0,
}


@for_each(
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


HUMAN_of_estimate, JUDGE_of_estimate, OTHER = (
    [1, 2, 3, 4, 5, 3],
    [1, 2, 3, 5, 4, 3],
    [3, 1, 2, 5, 3, 2],
)
TWO = [0, 0, 1, 1, 2, 2]


@for_each(
    ("found", "said"),
    [
        (
            spearman_difference(HUMAN_of_estimate, JUDGE_of_estimate, OTHER),
            ("spearman difference", "by rows, n=6 rows)"),
        ),
        (
            spearman_difference(
                HUMAN_of_estimate, JUDGE_of_estimate, OTHER, sources=TWO, confidence=0.9
            ),
            ("no interval: fewer than 5 sources, n=6 rows, 3 sources)",),
        ),
        (
            weighted_kappa_interval(HUMAN_of_estimate, JUDGE_of_estimate),
            ("linear-weighted kappa", "by rows, n=6 rows)"),
        ),
        (
            correlation.q_interval(
                *(HUMAN_of_estimate, JUDGE_of_estimate),
                sources=TWO,
                systems=[0, 1] * 3,
                level="system",
                resample="both",
            ),
            ("system-level q", "fewer than 5 sources and systems, n=6 rows, 2 sources and systems"),
        ),
        (
            correlation.lins_ccc_interval(
                HUMAN_of_estimate, JUDGE_of_estimate, sources=TWO, resample="items"
            ),
            ("concordance", "by rows, n=6 rows)"),
        ),
    ],
)
def test_an_estimate_prints_its_statistic_the_resampled_unit_and_the_number_of_rows(found, said):
    assert all(part in repr(found) for part in said), found


@for_each("name", ["pearson", "spearman", "kendall", "lins_ccc", "q"])
def test_a_named_statistic_is_the_agreement_of_that_name(name):
    statistic = {"lins_ccc": "concordance"}.get(name, name)
    given = {"sources": TWO, "level": "dataset", "seed": 3, "n_resamples": 50}
    value, interval, difference = (
        getattr(correlation, f"{name}{end}") for end in ("", "_interval", "_difference")
    )
    assert interval(
        HUMAN_of_estimate, JUDGE_of_estimate, **given
    ) == correlation.agreement_interval(
        HUMAN_of_estimate, JUDGE_of_estimate, statistic=statistic, **given
    )
    assert difference(
        HUMAN_of_estimate, JUDGE_of_estimate, other=OTHER, **given
    ) == correlation.agreement_difference(
        HUMAN_of_estimate, JUDGE_of_estimate, OTHER, statistic=statistic, **given
    )
    labels = {"systems": [0, 1, 2, 2, 1, 0], "level": "system"}
    found = correlation.agreement(
        HUMAN_of_estimate, JUDGE_of_estimate, statistic=statistic, **labels
    )
    assert value(HUMAN_of_estimate, JUDGE_of_estimate, **labels) == found.value
    with pytest.raises(ValueError, match="sources="):
        value(HUMAN_of_estimate, JUDGE_of_estimate, level="sample")
