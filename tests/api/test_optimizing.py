"""Make a judge better by ratings, as a DSPy optimizer does."""

import numpy as np
import pytest

import judgesmith
from judgesmith import optimizers as o
from judgesmith.programs import ActiveCritic, DirectJudge, Panel


@pytest.fixture(scope="module")
def examples():
    """Rated texts as examples, a part to choose by and a part to show."""
    data = judgesmith.read("sample")
    targets = judgesmith.data.targets_of(data)
    found = [
        o.rated_example(item, value, targets.scale, group=item.source_id)
        for item, value in zip(data, targets.values, strict=True)
    ]
    return found[:16], found[16:64]


def test_demonstrations_and_weights(keep, examples):
    shown, chosen = examples
    search = judgesmith.RandomDemonstrationSearch(n_demonstrations=2, n_trials=2)
    judge = search.compile(ActiveCritic(variant="vanilla"), trainset=shown, valset=chosen)
    assert isinstance(search, o.RandomDemonstrationSearch)
    keep("trials", search.trials_)
    assert isinstance(search.trials_[0], o.TrialRecord)
    keep("demonstrated", {"fingerprint": judge.protocol.fingerprint})
    fit = judgesmith.FitAggregation("q", n_repeats=2)
    assert isinstance(fit, o.FitAggregation)
    fitted = fit.compile(judge, trainset=chosen)
    keep("aggregation", fitted.protocol.aggregation)


@pytest.mark.parametrize(
    "elimination",
    [o.NoElimination(), o.SuccessiveHalving(), o.RacingRule(risk=0.1)],
    ids=["keep", "halve", "race"],
)
def test_protocols(keep, examples, elimination):
    shown, chosen = examples
    search = o.ProtocolSearch("q", n_trials=3, n_demo_sets=1, elimination=elimination, seed=1)
    judge = search.compile(DirectJudge(), trainset=shown, valset=chosen)
    keep("judge", {"fingerprint": judge.protocol.fingerprint})
    keep("trials", search.trials_)


def test_screening(keep, examples):
    shown, chosen = examples
    search = o.ProtocolSearch(
        "q", n_trials=4, n_demo_sets=1, elimination=o.ScreeningStage(), seed=1
    )
    judge = search.compile(DirectJudge(), trainset=shown, valset=chosen)
    keep("judge", {"fingerprint": judge.protocol.fingerprint})
    keep("stops", {str(n): o.ScreeningStage().stops(n) for n in (8, 60, 600)})


def test_confirming(keep, examples):
    shown, chosen = examples
    search = o.ProtocolSearch(
        "q", n_trials=3, n_demo_sets=1, confirm=o.ImprovementTest(level=0.8), seed=1
    )
    judge = search.compile(DirectJudge(), trainset=shown, valset=chosen)
    keep("judge", {"fingerprint": judge.protocol.fingerprint})


def test_texts(keep, examples):
    shown, chosen = examples
    reflective = o.ReflectiveSearch("q", n_trials=1, batch=8)
    judge = reflective.compile(ActiveCritic(variant="coarse"), trainset=shown, valset=chosen)
    keep("reflective", {"fingerprint": judge.protocol.fingerprint})
    balanced = o.FairPromptSearch(n_rounds=1, n_paraphrases=2, n_rows=12)
    judge = balanced.compile(DirectJudge(answers="1..5"), trainset=chosen)
    keep("balanced", {"fingerprint": judge.protocol.fingerprint})


def test_bridges(keep, examples):
    shown, chosen = examples
    search = o.DSPyOptimizer("miprov2", "q")
    judge = search.compile(ActiveCritic(variant="vanilla"), trainset=shown, valset=chosen)
    keep("judge", {"fingerprint": judge.protocol.fingerprint})


def test_panels(keep, examples):
    _, chosen = examples
    panel = Panel({"fine": ActiveCritic(variant="coarse"), "plain": DirectJudge()})
    selection = o.PanelSelection("q", n_rounds=3, n_repeats=2)
    compiled = selection.compile(panel, trainset=chosen)
    keep("trials", [one.name for one in selection.trials_])
    keep("asked", list(compiled.asked))
    calibrator = o.Calibrator(confidence=0.8)
    judge = calibrator.compile(DirectJudge(), trainset=chosen)
    keep("calibration", judge.calibration)


def test_objectives(keep):
    draw = np.random.default_rng(0)
    human = draw.integers(1, 6, size=40).astype(float)
    table = o.PredictionTable(
        predicted=np.clip(20 * human + draw.normal(scale=15, size=40), 0, 100),
        human=human,
        sources=np.repeat(np.arange(10), 4),
        systems=np.tile(["a", "b", "c", "d"], 10),
        scale=judgesmith.Scale(low=1, high=5),
        judge_scale=judgesmith.Scale(low=0, high=100),
        n_calls=(2,) * 40,
    )
    keep("sizes", [table.n, table.n_unscored])
    for text in ("q", "spearman@sample", "pearson@system", "q + .5*kappa - .01*calls"):
        objective: o.Objective = o.parse_objective(text)
        keep(text, {"name": str(objective), "value": objective.value(table)})
    keep("agreement", {"value": o.Agreement("kendall", "sample").value(table)})
    several = o.parse_objectives("q, -calls; scored >= .95")
    keep("several", {"name": str(several)})
    assert isinstance(several, o.SeveralObjectives)
    front = o.ParetoFront.of(several.each, [table, table])
    assert front.places == (0, 1)
    with pytest.raises(judgesmith.InputError):
        o.parse_objective("quality")


def test_objectives_from_public_names_are_those_of_texts():
    aim = o.WeightedSum(((1, o.Agreement("q")), (0.5, o.Kappa()), (-0.01, o.CallsPerItem())))
    condition = o.Constraint(o.ShareScored(), 0.95)
    assert o.Constrained(aim, (condition,)) == o.parse_objective(
        "q + .5*kappa - .01*calls; scored >= .95"
    )
    for text, objective in {
        "adjacent": o.NeighbourAccuracy(),
        "ties@sample": o.TieAccuracy("sample"),
        "d_min": o.LowestDiscernment(),
        "d_avg": o.AverageDiscernment(),
        "-mae": o.WeightedSum(((-1, o.AbsoluteError()),)),
        "-usd": o.WeightedSum(((-1, o.DollarsPerItem()),)),
        "-false_alarms": o.WeightedSum(((-1, o.FalseAlarms()),)),
    }.items():
        assert objective == o.parse_objective(text)


def test_functions_and_metrics_are_objectives():
    table = o.PredictionTable(
        predicted=np.array([1.0, 2.0, np.nan]),
        human=np.array([1.0, 3.0, 2.0]),
        sources=np.arange(3),
        systems=np.array(["a"] * 3),
        examples=("first", "second", "third"),
    )
    assert o.FunctionObjective(lambda rows: rows.n).value(table) == 2
    assert o.MetricObjective(lambda example, found: found.score).value(table) == 1.5


@pytest.fixture(scope="module")
def simulated():
    """Return a task on a simulated model to which prompts matter, and one to which none does."""
    from benchmarks.simulated_endpoint.runs import Task

    return {null: Task.drawn("topical_chat", 3, is_null=null, n_fresh=20) for null in (False, True)}


def searched(task, ledger=None, **settings):
    from benchmarks.simulated_endpoint.serving import simulated_lm
    from judgesmith.programs.lm import lm_client_of

    task.world.asked.clear()
    lm = simulated_lm(task.world, ledger=ledger)
    search = o.EffectSearch(lm=lm, seed=3, **settings)
    judge = search.compile(ActiveCritic(), trainset=task.examples)
    return search, judge, lm_client_of(lm).usage.calls


@pytest.mark.parametrize(("effort", "times"), [("light", 2), ("medium", 4)])
def test_effects_take_no_more_calls_than_estimated(simulated, effort, times):
    task = simulated[False]
    search, _, calls = searched(task, effort=effort)
    assert search.n_calls_at_most_ == times * len(task.examples) * 2
    assert calls <= 1.1 * search.n_calls_at_most_
    assert search.trials_[0].number == 0
    assert len(search.trials_) > 1
    assert isinstance(search.gain_, o.CrossFittedGain)
    assert search.gain_.n_rows == search.trials_[0].n_rows


@pytest.mark.parametrize("effort", ["light", "medium", "heavy"])
def test_effects_of_a_model_to_which_no_prompt_matters_keep_the_baseline(simulated, effort):
    task = simulated[True]
    search, judge, calls = searched(task, effort=effort)
    assert search.views_ == (0,)
    assert search.taken_ == 0
    assert judge.protocol == ActiveCritic().protocol
    assert calls <= 2 * len(task.examples) * 2


def test_effects_take_a_strong_option(simulated):
    from dataclasses import replace

    task = simulated[False]
    effects = replace(task.world.effects, changes={"cot_free": 0.8}, typical=0.0)
    strong = replace(task, world=replace(task.world, effects=effects, agreement={}))
    search, judge, _ = searched(strong, effort="medium")
    assert judge.protocol.explain == "none"
    assert search.taken_ > 0
    assert search.expected_ > 0.1


def test_effects_average_several_configurations_where_calls_allow_it(simulated):
    search, judge, _ = searched(simulated[False], effort="medium", calls_per_item=4)
    assert isinstance(judge, Panel)
    assert len(search.views_) == 2
    assert search.taken_ is None
    assert judge.calls_per_item == 4


def test_an_interrupted_search_of_effects_ends_as_if_it_was_not(simulated, tmp_path):
    from benchmarks.simulated_endpoint.serving import simulated_lm
    from judgesmith.programs.lm import Budget, ResponseCache

    task = simulated[False]
    whole, judge, calls = searched(task)
    place = tmp_path / "answers.sqlite"
    task.world.asked.clear()
    lm = simulated_lm(task.world, ledger=ResponseCache(place), budget=Budget(max_calls=500))
    cut = o.EffectSearch(lm=lm, seed=3)
    cut.compile(ActiveCritic(), trainset=task.examples)
    assert not cut.complete_
    again, found, rest = searched(task, ledger=ResponseCache(place))
    assert found.protocol == judge.protocol
    assert again.trials_ == whole.trials_
    assert rest < calls
    with pytest.raises(ValueError, match="effort"):
        o.EffectSearch(effort="none")
