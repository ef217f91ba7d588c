"""Say how well verdicts such as pass and fail agree with raters' labels, from arrays alone."""

import numpy as np
import pytest

from judgesmith import metrics as m
from judgesmith.metrics import verdicts

COSTS = {"fail": 5, "pass": 1}


@pytest.fixture(scope="module")
def labelled():
    """Labels, and two judges' verdicts, of three responses to each of 30 sources."""
    draw = np.random.default_rng(0)
    good = draw.random(90) < 0.6
    scores = np.clip(0.3 + 0.35 * good + 0.2 * draw.normal(size=90), 0, 1).round(3)
    words = np.array(["fail", "pass"])
    return {
        "labels": words[good.astype(int)],
        "scores": scores,
        "first": words[(scores > 0.5).astype(int)],
        "second": words[(draw.random(90) < 0.7).astype(int)],
        "sources": np.repeat(np.arange(30), 3),
    }


def test_each_metric_of_labels_and_verdicts(keep, labelled):
    rows = labelled["labels"], labelled["first"]
    keep(
        "plain",
        {
            "accuracy": m.accuracy(*rows),
            "balanced accuracy": m.balanced_accuracy(*rows),
            "mcc": m.mcc(*rows),
            "kappa": m.cohen_kappa(*rows),
            "f1": m.f1(*rows),
            "macro f1": m.macro_f1(*rows),
            "tpr": m.tpr(*rows),
            "tnr": m.tnr(*rows),
            "precision": m.precision(*rows),
            "npv": m.npv(*rows),
            "cost": m.expected_cost(*rows, costs=COSTS),
        },
    )


def test_agreement_with_intervals_over_sources(keep, labelled):
    found = m.verdict_agreement(
        labelled["labels"], labelled["first"], sources=labelled["sources"], costs=COSTS
    )
    assert isinstance(found, verdicts.VerdictAgreement)
    keep("agreement", found)


def test_two_judges(keep, labelled):
    found = m.compare_verdicts(
        *(labelled[name] for name in ("labels", "first", "second", "sources"))
    )
    assert isinstance(found, verdicts.VerdictComparison)
    keep("comparison", found)


def test_curves(keep, labelled):
    rows = labelled["labels"], labelled["scores"]
    found = m.verdict_curves(*rows, labelled["sources"])
    assert isinstance(found, verdicts.VerdictCurves)
    keep("areas", {"area": found.area, "average precision": found.average_precision})
    assert m.roc_auc(*rows) == found.area.value
    assert m.average_precision(*rows) == found.average_precision.value


def test_raters(keep, labelled):
    table = np.column_stack([labelled[name] for name in ("labels", "first", "second")])
    found = m.dawid_skene(table[:30])
    assert isinstance(found, verdicts.DawidSkene)
    keep("dawid and skene", found)
    keep("gwet", m.gwet_ac1(table, sources=labelled["sources"]))


def test_sample_sizes(keep):
    keep("labels", {rate: m.labels_needed(rate) for rate in (0.6, 0.75, 0.9, 0.97)})
