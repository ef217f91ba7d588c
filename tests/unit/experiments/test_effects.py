"""A compilation searches by effects within the calls that are estimated before."""

import judgesmith
from judgesmith.experiments import CompileSettings
from judgesmith.experiments.compile.estimate import estimate_run
from judgesmith.programs.lm import lm_client_of, model


def test_a_compilation_keeps_to_its_estimate(tmp_path):
    data = judgesmith.read("sample")
    settings = CompileSettings(criteria="given", optimizer="effects", effort="light")
    lm = model(ledger=tmp_path / "answers.sqlite")
    estimate = estimate_run(data, settings, lm)
    found = judgesmith.compile(data, settings, lm=lm)
    assert lm_client_of(lm).usage.calls <= 1.1 * estimate.calls
    confirmation = found.saved.agreement.confirmation
    assert confirmation["better"] is bool(confirmation["taken"])
    trials = [one for one in found.saved.history if one["stage"] == "effects"]
    assert [one["number"] for one in trials] == list(range(len(trials)))
    assert found.saved.settings["effort"] == "light"


def test_effort_decides_nothing_for_other_optimizers():
    heavy = CompileSettings(effort="heavy")
    assert "effort" not in heavy.model_dump(mode="json")
    assert "effort" in CompileSettings(optimizer="effects").model_dump(mode="json")
