import pytest

import judgesmith
from judgesmith.programs import score_batch
from judgesmith.programs.artifacts.saved_ensembles import SavedPanel, with_sampling
from judgesmith.programs.judging.executors import calls_per_item
from judgesmith.programs.lm import lm_client_of, model
from judgesmith.signatures.aggregation import PanelWeights


@pytest.fixture(scope="module")
def data():
    return judgesmith.read("sample").subset(range(40))


@pytest.fixture(scope="module")
def saved(data):
    settings = judgesmith.CompileSettings(criteria="given", optimizer="none", holdout=0)
    return judgesmith.compile(data, settings, lm=model(ledger=None)).saved


@pytest.fixture(scope="module")
def panel(saved):
    members = {"first": saved, "second": saved}
    weights = PanelWeights.equal({name: one.scale for name, one in members.items()})
    return SavedPanel(
        members=members, weights=weights, target=saved.target, human_scale=saved.human_scale
    )


def test_more_samples_are_asked_for_and_the_judge_stays_as_it_was(saved, data):
    other = with_sampling(saved, samples=3)
    lm = model(ledger=None)
    score_batch(other, data.items[:2], lm=lm)
    assert lm_client_of(lm).usage.calls == 2 * calls_per_item(other) == 6 * calls_per_item(saved)
    assert saved.protocol.samples == 1
    assert other.questions == saved.questions
    assert other.fingerprint != saved.fingerprint


def test_members_are_asked_as_often(panel):
    other = with_sampling(panel, samples=3, temperature=0.5)
    assert {one.protocol.samples for one in other.members.values()} == {3}
    assert {one.protocol.temperature for one in other.members.values()} == {0.5}
    assert calls_per_item(other) == 3 * calls_per_item(panel)


def test_without_settings_it_is_the_same_judge(saved):
    assert with_sampling(saved) is saved


@pytest.mark.parametrize("samples", [0, -1, 1001])
def test_impossible_samples_are_refused(saved, samples):
    with pytest.raises(ValueError, match=f"samples are from 1 to 1000; got {samples}"):
        with_sampling(saved, samples=samples)
