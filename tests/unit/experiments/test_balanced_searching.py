"""``--optimizer balanced`` within a compilation: estimated, run, and told of."""

import pytest

from judgesmith.data import read_items
from judgesmith.experiments import CompileSettings, compile_judge
from judgesmith.experiments.compile.estimate import estimate_run
from judgesmith.programs.families.direct import DirectConfig
from judgesmith.programs.lm import lm_client_of, model


@pytest.fixture(scope="module")
def settings():
    protocol = DirectConfig(answers="1..5")
    return CompileSettings(
        judge="direct",
        protocol=protocol,
        optimizer="balanced",
        n_demonstrations=0,
        criteria="given",
    )


@pytest.fixture(scope="module")
def lm():
    return model("offline", ledger=None)


@pytest.fixture(scope="module")
def found(settings, lm):
    return compile_judge(read_items("sample"), settings, lm=lm)


def test_it_tells_what_was_tried(found):
    told = " ".join(found.notes)
    assert "wordings of instructions were tried on" in told
    assert "made by rule: the offline model writes none" in told
    tried = [one for one in found.saved.history if one["stage"] == "balanced"]
    assert tried[0]["value"] < 0
    assert tried[1]["changed"] == "instructions:whole"


def test_it_makes_no_more_calls_than_estimated(found, settings, lm):
    bound = estimate_run(read_items("sample"), settings, lm)
    assert 0.3 * bound.calls < lm_client_of(lm).usage.calls <= bound.calls


def test_a_judge_with_many_answers_is_refused():
    many = CompileSettings(judge="direct", optimizer="balanced", criteria="given")
    with pytest.raises(ValueError, match="no even spread"):
        compile_judge(read_items("sample"), many)
