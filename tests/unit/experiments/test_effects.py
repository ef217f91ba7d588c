"""A compilation searches by effects within the calls that are estimated before."""

import pytest

import judgesmith
from benchmarks.harness import NotRun, rated
from benchmarks.simulated_endpoint.runs import Task
from benchmarks.simulated_endpoint.serving import simulated_lm
from judgesmith.errors import InputError
from judgesmith.experiments import CompileSettings
from judgesmith.experiments.compile.estimate import estimate_run
from judgesmith.optimizers import EffectSearch, rated_example
from judgesmith.programs import ActiveCritic, SavedPanel, score_batch
from judgesmith.programs.judging.executors import calls_per_item
from judgesmith.programs.lm import Budget, ResponseCache, lm_client_of, model


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


@pytest.mark.parametrize(
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


def test_an_average_whose_members_were_cut_short_is_incomplete(chats, tmp_path):
    task, data = chats[0], chats[1].subset(range(60))
    settings = CompileSettings(
        criteria="given", optimizer="effects", effort="light", calls_per_item=4, holdout=0
    )
    whole = simulated_lm(task.world, ledger=ResponseCache(tmp_path / "whole.sqlite"))
    found = judgesmith.compile(data, settings, lm=whole)
    assert found.complete
    n = lm_client_of(whole).usage.calls
    budget = Budget(max_calls=n - 20)
    cut = simulated_lm(task.world, ledger=ResponseCache(tmp_path / "cut.sqlite"), budget=budget)
    found = judgesmith.compile(data, settings, lm=cut)
    assert not found.complete
    assert found.saved.settings["complete"] is False


def test_effort_decides_nothing_for_other_optimizers():
    heavy = CompileSettings(optimizer="random", effort="heavy")
    assert "effort" not in heavy.model_dump(mode="json")
    assert "effort" in CompileSettings().model_dump(mode="json")


def test_demonstrations_are_searched_where_only_their_rounds_are_named():
    assert CompileSettings().optimizer == "effects"
    assert CompileSettings(n_rounds=2).optimizer == "random"
    assert CompileSettings(n_rounds=2, optimizer="none").optimizer == "none"


def test_a_winner_that_learned_weights_make_the_worse_judge_is_not_taken():
    settings = CompileSettings(criteria="given", effort="light", confirm=None)
    found = judgesmith.compile(judgesmith.read("sample"), settings).saved
    confirmation = found.agreement.confirmation
    weighed = confirmation["weighed"]
    assert (weighed["value"] >= weighed["before"]) is bool(confirmation["taken"])
    assert confirmation["better"] is bool(confirmation["taken"])


def test_discernment_is_searched_by_effects_within_the_estimate(tmp_path):
    data = judgesmith.read("sample").subset(range(60))
    settings = CompileSettings(criteria="given", effort="light", objective="q + 0.5*d_avg")
    lm = model(ledger=tmp_path / "answers.sqlite")
    most = estimate_run(data, settings, lm).calls
    found = judgesmith.compile(data, settings, lm=lm).saved
    assert 0 < lm_client_of(lm).usage.calls <= 1.1 * most
    assert any(one["stage"] == "effects" and one["number"] for one in found.history)


def test_the_level_of_tests_decides_how_sure_a_gain_must_be():
    data = judgesmith.read("sample")
    taken = []
    for level in (0.5, 1e-9):
        settings = CompileSettings(
            criteria="given", effort="light", learn_weights=False, confirm={"level": level}
        )
        found = judgesmith.compile(data, settings).saved.agreement.confirmation
        taken.append(found["taken"])
    assert taken[0]
    assert not taken[1]


@pytest.mark.parametrize("seed", [3, 4])
def test_one_source_never_replaces_the_baseline(seed):
    data = judgesmith.read("sample")
    examples = [
        rated_example(item, item.human["overall"][0], item.scale["overall"], group=int(n < 12))
        for n, item in enumerate(data.subset(range(60)))
    ]
    search = EffectSearch("q", effort="medium", seed=seed)
    search.compile(ActiveCritic(), trainset=examples[:12], valset=examples[12:])
    assert len(search.trials_) > 1
    assert search.views_ == (0,)
