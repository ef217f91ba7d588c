"""Whatever objective a search is given, it is checked first and means what was given."""

import functools

import dspy
import numpy as np
import pytest
from optimizing import LIKERT, examples, lm_of
from tables import judged

from judgesmith import InputError
from judgesmith.optimizers import (
    Agreement,
    DSPyOptimizer,
    FitAggregation,
    PanelSelection,
    PredictionTable,
    ProtocolSearch,
    RandomDemonstrationSearch,
    parse_objective,
)
from judgesmith.optimizers.objectives.grammar import as_objective
from judgesmith.optimizers.rows import rows_of
from judgesmith.programs import ActiveCritic, Panel
from judgesmith.programs.lm import lm_client_of
from judgesmith.signatures import Judgement, Scale

ROWS = examples(range(40))
RATED = {row.response: int(row.score) for row in ROWS}


def in_points(user, shown, system):
    """Answer with people's points, from 1 to 5, whatever scale was asked for."""
    return next(score for response, score in RATED.items() if f"{response}\n" in user)


class TestScales:
    """A judge that answers 1 to 5 when it is asked for 0 to 100 is far off in points."""

    @pytest.mark.parametrize(
        "search",
        [
            lambda objective, **more: RandomDemonstrationSearch(objective, n_trials=2, **more),
            lambda objective, **more: ProtocolSearch(objective, n_trials=2, confirm=None, **more),
        ],
        ids=["random", "protocol"],
    )
    def test_a_search_knows_what_its_judges_answer_on(self, search):
        student = ActiveCritic(variant="vanilla")
        values = {}
        for objective in ("kappa", "-mae", "q"):
            made = search(objective, lm=lm_of(in_points))
            made.compile(student, trainset=ROWS)
            values[objective] = made.trials_[0].value
        assert values["q"] == pytest.approx(3)
        assert values["kappa"] == pytest.approx(0, abs=0.01)
        off = np.mean([row.score - 1 - row.score / 25 for row in ROWS])
        assert values["-mae"] == pytest.approx(-off, abs=0.5)


def near(example, prediction, trace=None):
    """Return how near the judge's points are to people's, from 0 to 1."""
    return 1 - abs(example.score - 1 - prediction.score / 25) / 4


def agreeing(table):
    """Return Pearson, as users write it."""
    return np.corrcoef(table.predicted, table.human)[0, 1]


def shifted(user, shown, system):
    """Answer a few points above people's, and with a longer prompt nearer to them."""
    return max(0, 25 * (in_points(user, shown, system) - 1) - 10 // (1 + len(shown)))


class WithFields:
    """A metric with its own attributes, as users of DSPy write them."""

    def __call__(self, example, prediction, trace=None):
        assert example.scale == LIKERT
        assert prediction.problem is None
        return prediction.score > 40 if example.score > 3 else prediction.score <= 40


def with_feedback(example, prediction, trace=None, pred_name=None, pred_trace=None):
    return dspy.Prediction(score=near(example, prediction), feedback="nearer!")


def strict(example, prediction, trace):
    assert trace is None
    return near(example, prediction)


SEARCHES = {
    "random": lambda **more: RandomDemonstrationSearch(n_trials=3, **more),
    "protocol": lambda **more: ProtocolSearch(n_trials=3, **more),
    "bootstrap": lambda **more: DSPyOptimizer(
        "bootstrap", settings={"num_candidate_programs": 2}, **more
    ),
    "weights": lambda **more: FitAggregation(n_repeats=2, **more),
}
STUDENT = ActiveCritic(variant="vanilla")


class TestFunctions:
    @pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
    @pytest.mark.parametrize(
        "given",
        [
            {"objective": agreeing},
            {"objective": near},
            {"metric": near},
            {"metric": WithFields()},
            {"metric": with_feedback},
            {"metric": strict},
            {"metric": functools.partial(near, trace=None)},
        ],
        ids=["table", "pairs", "metric", "object", "feedback", "strict", "partial"],
    )
    def test_every_search_takes_functions_and_metrics(self, search, given):
        made = search(lm=lm_of(shifted), **given)
        judge = made.compile(STUDENT, trainset=ROWS)
        assert isinstance(judge, ActiveCritic)
        values = [trial.value for trial in made.trials_]
        assert not np.isnan(values[0])
        # Questions that the scripted model does not answer leave a candidate undefined.
        assert all(np.isnan(one) or 0 <= one <= 1 for one in values)

    def test_a_metric_is_the_mean_over_the_scored_rows(self):
        search = RandomDemonstrationSearch(metric=near, n_trials=1, lm=lm_of(shifted))
        search.compile(STUDENT, trainset=ROWS[:40], valset=ROWS[40:])
        rows = ROWS[40:]
        expected = [1 - min(10, 25 * (row.score - 1)) / 100 for row in rows]
        assert search.trials_[0].value == pytest.approx(np.mean(expected))

    def test_a_metric_has_the_interval_of_a_mean(self):
        rows = rows_of(ROWS)
        said = [Judgement(score=points) for points in np.linspace(0, 100, len(rows))]
        table = rows.judged(said, judge_scale=Scale(low=0, high=100))
        by_row = [near(row, one) for row, one in zip(ROWS, said, strict=True)]
        found = as_objective(near).estimate(table, rng=np.random.default_rng(0))
        assert found.value == pytest.approx(np.mean(by_row))
        assert found.low < found.value < found.high
        whole = as_objective(lambda table: float(np.mean(near_all(table))))
        same = whole.estimate(table, rng=np.random.default_rng(0))
        assert (same.value, same.low, same.high) == pytest.approx(
            (found.value, found.low, found.high)
        )
        parts = as_objective(near).row_parts(table)
        assert parts == pytest.approx(np.asarray(by_row) / len(rows))
        assert as_objective(near).gain(table, table, rng=np.random.default_rng(0)).value == 0

    def test_a_function_sees_scored_rows_and_each_target_by_itself(self):
        rows = rows_of(ROWS)
        said = [
            Judgement.unscored("cut off") if n % 7 == 0 else Judgement(score=n)
            for n in range(len(rows))
        ]
        table = rows.judged(said, judge_scale=Scale(low=0, high=100))
        assert as_objective(agreeing).value(table) == pytest.approx(
            parse_objective("pearson").value(table)
        )
        both = PredictionTable.of_parts({"score": table, "wit": table.take(np.arange(30))})
        assert as_objective(agreeing).value(both) == pytest.approx(
            parse_objective("pearson").value(both)
        )

    def test_a_panel_is_weighed_by_a_metric(self):
        members = {"one": ActiveCritic(variant="vanilla"), "two": ActiveCritic(variant="coarse")}
        search = PanelSelection(metric=lambda example, prediction: -abs(prediction.score - 3))
        assert isinstance(search.compile(Panel(members), trainset=ROWS), Panel)
        assert all(trial.value <= 0 for trial in search.trials_)


def near_all(table):
    return 1 - np.abs(table.human - 1 - table.predicted / 25) / 4


def raising(example, prediction, trace=None):
    return prediction.no_such_field


def without_a_number(example, prediction, trace=None):
    return "good"


def returning_none(table):
    table.predicted.mean()


def undefined(table):
    return float("nan")


def of_nothing():
    return 1.0


@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
@pytest.mark.parametrize(
    ("objective", "message"),
    [
        (raising, "objective raising raised AttributeError on row 1 of"),
        (without_a_number, "without_a_number must return a finite number; on row 1 of .*'good'"),
        (returning_none, "returning_none must return a finite number; on a table of .* None"),
        (undefined, "objective undefined is undefined on the .* rows to choose by, even for"),
        (of_nothing, r"f\(table\) -> float or metric\(.*; of_nothing takes other arguments"),
        (3, "an objective is a text such as 'q', f.table. -> float or metric.*; got 3"),
        (Agreement, "an objective is a text such as 'q', .*; got <class"),
        (lambda table: 1 / 0, "objective <lambda> raised ZeroDivisionError on a table of"),
        ("kappa", "kappa needs 11 levels or fewer; people gave [0-9]+ different"),
    ],
    ids=lambda one: getattr(one, "__name__", str(one))[:20],
)
def test_what_is_no_objective_is_refused_before_the_first_call(search, objective, message):
    lm = lm_of(in_points)
    percent = Scale(low=0, high=100)
    fine = [row.copy(score=n, scale=percent) for n, row in enumerate(ROWS)]
    with pytest.raises(InputError, match=message):
        search(objective=objective, lm=lm).compile(STUDENT, trainset=fine)
    assert lm_client_of(lm).engine.asked == 0


def test_a_metric_stands_in_for_an_objective():
    for search in SEARCHES.values():
        with pytest.raises(InputError, match="metric= stands in for objective=; drop kappa or"):
            search(objective="kappa", metric=near)


def test_metrics_of_one_name_share_no_study(tmp_path):
    def named(weight):
        def metric(example, prediction, trace=None):
            return weight * near(example, prediction)

        return metric

    def searched(metric):
        lm = lm_of(shifted)
        search = ProtocolSearch(metric=metric, n_trials=2, lm=lm, storage=tmp_path / "a.journal")
        search.compile(STUDENT, trainset=ROWS)
        return search.study_.study_name, lm_client_of(lm).engine.asked

    first, asked = searched(named(1.0))
    assert asked > 0
    assert searched(named(1.0)) == (first, 0)
    assert searched(named(0.5))[0] != first


def test_a_metric_wants_examples():
    with pytest.raises(InputError, match="near compares examples with predictions, and this"):
        as_objective(near).value(judged([1, 2], [1, 2]))
