"""What every optimizer promises, those of DSPy included."""

from contextlib import nullcontext
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import dspy
import pytest
from optimizing import n_calls, writer

import judgesmith
from judgesmith.metrics import q
from judgesmith.optimizers import (
    Calibrator,
    DSPyOptimizer,
    FairPromptSearch,
    FitAggregation,
    PanelSelection,
    ProtocolSearch,
    RandomDemonstrationSearch,
    ReflectiveSearch,
    ScreeningStage,
)
from judgesmith.programs import ActiveCritic, DirectJudge, Panel, score_batch
from judgesmith.signatures import RatedItem, Scale

pytestmark = pytest.mark.no_cover

LIKERT = Scale(low=1, high=5)
FEW = {
    "bootstrap": {"num_candidate_programs": 1, "max_labeled_demos": 2},
    "miprov2": {
        "auto": None,
        "num_candidates": 2,
        "num_trials": 2,
        "max_bootstrapped_demos": 1,
        "max_labeled_demos": 1,
    },
    "simba": {"bsize": 4, "num_candidates": 2, "max_steps": 1},
}


def offline(**given):
    return judgesmith.model("offline", **{"ledger": None, **given})


def panel():
    return Panel({one: ActiveCritic(variant=one) for one in ("vanilla", "coarse")})


OPTIMIZERS = {
    "random": lambda lm: RandomDemonstrationSearch(n_trials=3, lm=lm),
    "protocol": lambda lm: ProtocolSearch(n_trials=4, batch=2, lm=lm),
    "screened": lambda lm: ProtocolSearch(
        n_trials=4, batch=2, elimination=ScreeningStage(n_again=2), lm=lm
    ),
    "reflective": lambda lm: ReflectiveSearch(n_trials=2, lm=lm, reflection_lm=writer()),
    "fair": lambda lm: FairPromptSearch(n_paraphrases=2, n_rounds=1, n_rows=8, lm=lm),
    "weights": lambda lm: FitAggregation(n_repeats=2, lm=lm),
    "panel": lambda lm: PanelSelection(n_repeats=2, lm=lm),
    "calibration": lambda lm: Calibrator(lm=lm),
    **{name: lambda lm, name=name: DSPyOptimizer(name, settings=FEW[name], lm=lm) for name in FEW},
}
STUDENTS = {
    "fair": lambda: DirectJudge(answers="1..5"),
    "panel": panel,
    **dict.fromkeys(FEW, lambda: ActiveCritic(variant="vanilla")),
}
MODELS = {"fair": writer}
REFUSED = {"calibration": lambda: pytest.raises(ValueError, match="needs 20 scored rows")}
"""What cannot return its student where the budget ends says so."""

WITHOUT_VALSET = ("fair", "weights", "panel", "calibration")
WITHOUT_OBJECTIVE = ("fair", "calibration")


def rows(sources, per_source=2):
    """Return rated texts; longer ones are better, as the offline model half knows."""
    return [
        dspy.Example(
            source=f"The council met on day {s} and spoke of bridge number {s}.",
            response=f"The council met{' and spoke of the bridge' * (k + s % 3)} {s}-{k}.",
            score=float(1 + (2 * s + k + s % 3) % 5),
            scale=LIKERT,
            group=s,
        ).with_inputs("source", "response")
        for s in sources
        for k in range(per_source)
    ]


TRAIN, VALIDATE = rows(range(24)), rows(range(50, 62))


class Case:
    """One optimizer, its student, and what it compiles."""

    def __init__(self, name):
        self.name = name
        self.student = STUDENTS.get(name, ActiveCritic)()
        self.split = {} if name in WITHOUT_VALSET else {"valset": VALIDATE}

    def model(self, **given):
        return MODELS.get(self.name, offline)(**given)

    def compiled(self, lm=None):
        lm = lm or self.model()
        made = OPTIMIZERS[self.name](lm)
        return made.compile(self.student, trainset=TRAIN, **self.split)


@cache
def once(name):
    """Return a case, its student's state before, the judge that it compiles, and the calls."""
    case = Case(name)
    before = case.student.dump_state()
    with TemporaryDirectory() as folder:
        lm = case.model(ledger=Path(folder) / "answers.sqlite")
        return case, before, case.compiled(lm), n_calls(lm)


@pytest.fixture(params=OPTIMIZERS)
def case(request):
    return Case(request.param)


def demonstrations(judge):
    protocol = getattr(judge, "protocol", None)
    return [] if protocol is None else [d for one in protocol.demonstrations.values() for d in one]


def test_another_judge_comes_back_and_nothing_is_printed(case, capfd):
    first, before, judge, _ = once(case.name)
    assert isinstance(judge, dspy.Module)
    assert judge is not first.student
    assert first.student.dump_state() == before
    assert capfd.readouterr() == ("", "")


def test_it_asks_for_a_judge_and_for_rows(case):
    optimizer = OPTIMIZERS[case.name](case.model())
    with pytest.raises(TypeError, match=r"expected a (judge|Panel)"):
        optimizer.compile(dspy.Predict("source -> score"), trainset=TRAIN)
    with pytest.raises(ValueError, match=r"no rated items|no texts|trainset"):
        optimizer.compile(case.student, trainset=[])


def test_a_budget_is_kept_and_without_one_the_student_comes_back(case):
    for most in (0, 9):
        lm = case.model(max_calls=most)
        with REFUSED.get(case.name, nullcontext)():
            judge = case.compiled(lm)
            assert most or demonstrations(judge) == demonstrations(case.student)
        assert n_calls(lm) <= most


def test_a_stopped_run_ends_as_the_same_seed_does_and_pays_for_nothing_twice(case, tmp_path):
    _, _, wanted, most = once(case.name)
    first = case.model(ledger=tmp_path / "answers.sqlite", max_calls=25)
    with REFUSED.get(case.name, nullcontext)():
        case.compiled(first)
    second = case.model(ledger=tmp_path / "answers.sqlite")
    assert case.compiled(second).dump_state() == wanted.dump_state()
    assert n_calls(first) + n_calls(second) == most


@pytest.mark.parametrize("name", [one for one in OPTIMIZERS if one not in WITHOUT_VALSET])
def test_no_row_that_it_shows_is_one_that_it_chose_by(name):
    _, _, judge, _ = once(name)
    pool, chosen = ({one.response for one in part} for part in (TRAIN, VALIDATE))
    shown = {one.inputs["response"] for one in demonstrations(judge) if "response" in one.inputs}
    assert shown <= pool
    assert not shown & chosen
    shared = OPTIMIZERS[name](offline())
    with pytest.raises(ValueError, match="in both trainset and valset"):
        shared.compile(Case(name).student, trainset=TRAIN, valset=TRAIN[:6])


def n_rated(table):
    return float(len(table.human))


@pytest.mark.parametrize("name", [one for one in OPTIMIZERS if one not in WITHOUT_OBJECTIVE])
def test_it_is_never_worse_on_the_rows_it_chose_by_and_metric_is_an_objective(name):
    case, _, judge, _ = once(name)
    lm = offline()
    made = OPTIMIZERS[name](lm)
    assert str(type(made)("q", lm=lm).objective if name not in FEW else made.objective) == "q"
    for metric, objective in (
        ("spearman", "spearman"),
        (made.objective, str(made.objective)),
        (n_rated, "n_rated"),
    ):
        settings = {"metric": metric, "lm": lm}
        other = DSPyOptimizer(name, **settings) if name in FEW else type(made)(**settings)
        assert str(other.objective) == objective
    chosen = TRAIN if case.split == {} else VALIDATE
    items = [RatedItem(source_id=one.source, **one.inputs(), human={}) for one in chosen]
    values = []
    for one in (case.student, judge):
        said = [found.score for found in score_batch(one, items, lm=lm)]
        values.append(q([one.score for one in chosen], said))
    assert values[1] >= values[0]
