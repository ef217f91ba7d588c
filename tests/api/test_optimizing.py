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
    targets = judgesmith.experiments.targets_of(data)
    found = [
        o.rated_example(item, value, targets.scale, group=item.source_id)
        for item, value in zip(data, targets.values, strict=True)
    ]
    return found[:16], found[16:64]


def test_demonstrations_and_weights(keep, examples):
    shown, chosen = examples
    search = judgesmith.RandomDemonstrationSearch(n_demonstrations=2, n_rounds=2)
    judge = search.compile(ActiveCritic(variant="vanilla"), trainset=shown, valset=chosen)
    assert isinstance(search, o.RandomDemonstrationSearch)
    keep("trials", search.trials_)
    keep("demonstrated", {"fingerprint": judge.protocol.fingerprint})
    fit = judgesmith.FitAggregation("q", n_repeats=2)
    assert isinstance(fit, o.FitAggregation)
    fitted = fit.compile(judge, trainset=chosen)
    keep("aggregation", fitted.protocol.aggregation)


@pytest.mark.parametrize(
    "elimination", [o.KeepAll(), o.Halve(), o.Race(risk=0.1)], ids=["keep", "halve", "race"]
)
def test_protocols(keep, examples, elimination):
    shown, chosen = examples
    search = o.ProtocolSearch("q", n_trials=3, n_draws=1, elimination=elimination, seed=1)
    judge = search.compile(DirectJudge(), trainset=shown, valset=chosen)
    keep("judge", {"fingerprint": judge.protocol.fingerprint})
    keep("trials", search.trials_)


def test_screening(keep, examples):
    shown, chosen = examples
    search = o.ProtocolSearch("q", n_trials=4, n_draws=1, screen=o.Screen(), seed=1)
    judge = search.compile(DirectJudge(), trainset=shown, valset=chosen)
    keep("judge", {"fingerprint": judge.protocol.fingerprint})
    keep("stops", {str(n): o.Screen().stops(n) for n in (8, 60, 600)})


def test_confirming(keep, examples):
    shown, chosen = examples
    search = o.ProtocolSearch("q", n_trials=3, n_draws=1, confirm=o.Confirm(level=0.4), seed=1)
    judge = search.compile(DirectJudge(), trainset=shown, valset=chosen)
    keep("judge", {"fingerprint": judge.protocol.fingerprint})


def test_texts(keep, examples):
    shown, chosen = examples
    reflective = o.ReflectiveSearch("q", n_trials=1, batch=8)
    judge = reflective.compile(ActiveCritic(variant="coarse"), trainset=shown, valset=chosen)
    keep("reflective", {"fingerprint": judge.protocol.fingerprint})
    balanced = o.BalancedInstructions(n_rounds=1, n_paraphrases=2, n_rows=12)
    judge = balanced.compile(DirectJudge(answers="1..5"), trainset=chosen)
    keep("balanced", {"fingerprint": judge.protocol.fingerprint})


def test_bridges(keep, examples):
    shown, chosen = examples
    search = o.BridgedSearch("miprov2", "q")
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
    table = o.JudgedTable(
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
    with pytest.raises(judgesmith.InputError):
        o.parse_objective("quality")
