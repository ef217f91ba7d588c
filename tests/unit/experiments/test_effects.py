"""A compilation searches by effects within the calls that are estimated before."""

import pytest
from looping import for_each

import judgesmith
from benchmarks.harness import NotRun, rated
from benchmarks.simulated_endpoint.runs import Task
from benchmarks.simulated_endpoint.serving import simulated_lm
from judgesmith.errors import InputError
from judgesmith.experiments import CompileSettings
from judgesmith.experiments.compile.estimate import estimate_run
from judgesmith.programs import SavedPanel, score_batch
from judgesmith.programs.judging.executors import calls_per_item
from judgesmith.programs.lm import ResponseCache, lm_client_of, model


def test_a_compilation_keeps_to_its_estimate(tmp_path):
    data = judgesmith.read("sample").subset(range(80))
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


@pytest.fixture(scope="module")
def chats():
    """A simulated world of chats, and rated rows of it."""
    try:
        return Task.drawn("topical_chat", 3, n_fresh=20), rated("topical_chat").subset(range(180))
    except NotRun as reason:
        pytest.skip(str(reason))


def test_several_prompts_are_averaged_reported_and_saved(chats, tmp_path):
    task, data = chats
    settings = CompileSettings(
        criteria="given", optimizer="effects", effort="light", calls_per_item=4
    )
    lm = simulated_lm(task.world, ledger=ResponseCache(tmp_path / "answers.sqlite"))
    estimate = estimate_run(data, settings, lm)
    found = judgesmith.compile(data, settings, lm=lm)
    assert lm_client_of(lm).usage.calls <= 1.1 * estimate.calls
    saved = found.saved
    assert isinstance(saved, SavedPanel)
    assert len(saved.members) == 2
    assert saved.scale == saved.human_scale
    assert calls_per_item(saved) == 4
    assert saved.agreement.confirmation["better"]
    assert found.heldout["dataset"]["q"].value > found.uncompiled["dataset"]["q"].value
    saved.save(tmp_path / "judge")
    loaded = SavedPanel.load(tmp_path / "judge")
    assert loaded.fingerprint == saved.fingerprint
    again = score_batch(loaded, [data[0]], lm=lm)
    assert set(again[0].members) == set(saved.members)


@for_each(
    ("settings", "said"),
    [
        pytest.param({"optimizer": "protocol"}, "search of effects", id="another search"),
        pytest.param({"calls_per_item": 1}, "takes 2 calls", id="too few"),
        pytest.param({"target": ("fluency", "faithfulness")}, "one target", id="targets"),
        pytest.param({"criteria": "human"}, "one target", id="people's criteria are targets"),
        pytest.param({"judge": "pairs", "calls_per_item": 40}, "ranks", id="ranks"),
        pytest.param(
            {"criteria": "given", "objective": "kappa"}, "correlations alone", id="no correlation"
        ),
    ],
)
def test_calls_per_item_that_cannot_be_are_refused(settings, said):
    given = {"optimizer": "effects", "calls_per_item": 4, **settings}
    with pytest.raises(InputError, match=said):
        judgesmith.compile(judgesmith.read("sample"), CompileSettings(**given))


def test_effort_decides_nothing_for_other_optimizers():
    heavy = CompileSettings(optimizer="random", effort="heavy")
    assert "effort" not in heavy.model_dump(mode="json")
    assert "effort" in CompileSettings().model_dump(mode="json")


def test_demonstrations_are_searched_where_only_their_rounds_are_named():
    assert CompileSettings().optimizer == "effects"
    assert CompileSettings(n_rounds=2).optimizer == "random"
    assert CompileSettings(n_rounds=2, optimizer="none").optimizer == "none"
