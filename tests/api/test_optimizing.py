"""Make a judge better by ratings, as a DSPy optimizer does."""

import dataclasses

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
    judge = search.compile(DirectJudge(), trainset=shown, valset=chosen[:24])
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
    few = {"auto": None, "num_candidates": 2, "num_trials": 2}
    shots = {"max_bootstrapped_demos": 1, "max_labeled_demos": 1}
    search = o.DSPyOptimizer("miprov2", "q", settings=few | shots)
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
        "tnr": o.VerdictRate("tnr"),
        "-cost(fail=5)": o.WeightedSum(((-1, o.VerdictCost((("fail", 5.0),))),)),
        "-false_alarms": o.WeightedSum(((-1, o.FalseAlarms()),)),
    }.items():
        assert objective == o.parse_objective(text)


def labelled_table(threshold=None):
    """Return what a judge says of 60 rows of which people fail every third."""
    human = (np.arange(60) % 3 > 0).astype(float)
    noise = np.random.default_rng(0).normal(scale=30, size=60)
    return o.PredictionTable(
        predicted=np.clip(30 + 40 * human + noise, 0, 100),
        human=human,
        sources=np.arange(60),
        systems=np.array(["a"] * 60),
        scale=judgesmith.Scale.of_labels("fail", "pass"),
        judge_scale=judgesmith.Scale(low=0, high=100),
        threshold=threshold,
    )


def test_verdicts_are_counted_by_the_threshold_of_a_table():
    table = labelled_table(threshold=0.5)
    good, passed = table.human == 1, table.predicted >= 50
    found = {name: o.VerdictRate(name).value(table) for name in ("tpr", "tnr", "mcc", "f1")}
    assert found["tpr"] == pytest.approx(passed[good].mean())
    assert found["tnr"] == pytest.approx((~passed[~good]).mean())
    assert found["mcc"] == pytest.approx(np.corrcoef(good, passed)[0, 1])
    wrong = {"fail": (passed & ~good).sum(), "pass": (~passed & good).sum()}
    cost = o.parse_objective("-cost(fail=5)").value(table)
    assert cost == pytest.approx(-(5 * wrong["fail"] + wrong["pass"]) / 60)
    both = o.parse_objective("balanced_accuracy").estimate(table, seed=0)
    assert both.value == pytest.approx((found["tpr"] + found["tnr"]) / 2)
    assert both.low < both.value < both.high


def test_without_a_threshold_each_source_has_one_that_the_others_teach():
    table = labelled_table()
    free, floored = (o.parse_objective(text) for text in ("balanced_accuracy", "tpr; tnr >= .75"))
    assert 0.5 < free.value(table) < 1
    assert floored.constraints[0].met(table)
    assert floored.value(table) < o.VerdictRate("tpr").value(table)
    # A judge that says nothing has verdicts by luck, and one that is always right none wrong.
    told = table.predicting(table.human, judge_scale=table.scale)
    assert free.value(told) == 1


def test_kappa_of_two_labels_is_that_of_verdicts():
    table = labelled_table(threshold=0.3)
    good, passed = table.human == 1, table.predicted >= 30
    agree = np.mean(good == passed)
    chance = good.mean() * passed.mean() + (~good).mean() * (~passed).mean()
    assert o.Kappa().value(table) == pytest.approx((agree - chance) / (1 - chance))


def test_verdicts_need_labels():
    table = labelled_table()
    ratings = dataclasses.replace(table, scale=judgesmith.Scale(low=0, high=1))
    with pytest.raises(judgesmith.InputError, match="these are ratings"):
        o.VerdictRate().value(ratings)
    with pytest.raises(judgesmith.InputError, match="named for 'bad'"):
        o.parse_objective("-cost(bad=2)").value(table)
    for text in ("-cost(fail=5", "-cost(fail)", "-cost(fail=0)", "cost"):
        with pytest.raises(judgesmith.InputError):
            o.parse_objective(text)


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


def test_effects_of_options_and_the_gain_of_choosing_by_them(keep, examples):
    _, rated = examples
    search = o.EffectSearch(effort="light", seed=0)
    search.compile(DirectJudge(), trainset=rated)
    assert isinstance(search.gain_, o.CrossFittedGain)
    assert search.gain_.n_rows == len(rated)
    keep("effects", {"trials": len(search.trials_), "gain": search.gain_.value})
    with pytest.raises(ValueError, match="effort"):
        o.EffectSearch(effort="none")


def test_what_is_no_rated_example_is_named(examples):
    data = judgesmith.read("sample")
    search = o.RandomDemonstrationSearch("q", n_trials=1)
    with pytest.raises(ValueError, match=r"example 0 is a RatedItem.*rated_example"):
        search.compile(ActiveCritic(variant="vanilla"), trainset=list(data))
    worded = [one.copy(score="good") for one in examples[1]]
    with pytest.raises(ValueError, match="example 0: expected a number as score; got 'good'"):
        search.compile(ActiveCritic(variant="vanilla"), trainset=worded)
