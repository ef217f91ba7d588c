import math

import numpy as np
import pytest

from judgesmith.experiments.compile.notes import objective_report
from judgesmith.optimizers import PredictionTable, parse_objective
from judgesmith.optimizers.objectives.agreement import Agreement


def table(seed, noise):
    rng = np.random.default_rng(seed)
    human = rng.normal(size=40)
    one = PredictionTable(
        predicted=human + noise * rng.normal(size=40),
        human=human,
        sources=np.arange(40) // 2,
        systems=np.array(["a", "b"] * 20),
    )
    return PredictionTable.of_parts({"score": one, "wit": one.predicting(one.predicted[::-1])})


def report(heldout):
    return objective_report(
        Agreement("pearson"), ("score", "wit"), selection=table(0, 0.1), heldout=heldout, seed=[1]
    )


def test_the_mean_over_targets_is_told_before_and_after_with_its_gain():
    found = report((table(1, 2.0), table(1, 0.5)))
    assert found.gain.value == pytest.approx(found.heldout.value - found.uncompiled.value)
    assert found.optimism == pytest.approx(found.selection.value - found.heldout.value)
    plain = found.to_dict()
    assert (plain["name"], plain["targets"]) == ("pearson", ["score", "wit"])
    assert plain["gain"]["n"] == 80


def test_without_rows_held_out_only_the_selection_is_told():
    found = report(None)
    assert math.isnan(found.optimism)
    plain = found.to_dict()
    assert [plain[name] for name in ("uncompiled", "heldout", "gain", "optimism")] == [None] * 4
    assert plain["selection"]["low"] < plain["selection"]["value"]


def test_of_an_objective_with_conditions_the_aim_is_told_and_whether_they_are_met():
    objective = parse_objective("pearson; ties >= .99; scored >= .9")
    before, after = table(1, 2.0), table(1, 0.5)
    found = objective_report(
        objective, ("score", "wit"), selection=table(0, 0.1), heldout=(before, after), seed=[1]
    )
    assert found.heldout.value == pytest.approx(Agreement("pearson").value(after))
    assert found.gain.value == pytest.approx(found.heldout.value - found.uncompiled.value)
    plain = found.to_dict()["constraints"]
    assert {name: one["met"] for name, one in plain.items()} == {
        "ties >= 0.99": False,
        "scored >= 0.9": True,
    }
    assert plain["scored >= 0.9"]["value"] == 1.0
    assert "constraints" not in report(None).to_dict()
