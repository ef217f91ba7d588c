import numpy as np
import pytest
from optimizing import examples

from judgesmith.optimizers import parse_objective
from judgesmith.optimizers.dspy_optimizers import ObjectiveMetric, ObjectiveRows
from judgesmith.optimizers.rows import rows_of
from judgesmith.programs import ActiveCritic
from judgesmith.signatures import Judgement
from judgesmith.signatures.scale import PERCENT

OBJECTIVES = ["q", "pearson@sample", "q - .1*mae", "kappa"]


def bridged(objective="q", *, unscored=(), n=20):
    rows = rows_of(examples(range(n)))
    rng = np.random.default_rng(2)
    said = [
        Judgement.unscored("cut off") if row in unscored else Judgement(score=float(points))
        for row, points in enumerate(rng.integers(0, 101, len(rows)))
    ]
    return ObjectiveRows(
        name="select",
        rows=rows,
        objective=parse_objective(objective),
        targets=("score",),
        start=said,
        judge_scale=PERCENT,
    )


@pytest.mark.parametrize("objective", ["q", "pearson", "kendall", "q + .5*spearman"])
def test_the_mean_worth_of_the_start_is_the_objective(objective):
    rows = bridged(objective)
    table = rows.rows.judged(rows.start, judge_scale=PERCENT)
    worth = [rows.worth(row, one) for row, one in enumerate(rows.start)]
    assert np.mean(worth) == pytest.approx(parse_objective(objective).value(table))


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_an_answer_nearer_to_people_is_worth_more(objective):
    rows = bridged(objective)
    human = rows.rows.percent()
    row = int(np.argmax(human))
    near, far = (rows.worth(row, Judgement(score=points)) for points in (100.0, 0.0))
    assert near > far


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_an_answer_without_a_score_is_worth_less_than_every_answer_of_the_start(objective):
    rows = bridged(objective, unscored=(3,))
    worth = [rows.worth(row, one) for row, one in enumerate(rows.start)]
    assert worth[3] == rows.unscored == min(worth)
    assert sorted(worth)[1] >= worth[3] + 1


def test_where_nothing_is_scored_nothing_is_worth_anything():
    rows = bridged(unscored=range(40))
    assert rows.worth(0, rows.start[0]) == rows.unscored


@pytest.mark.parametrize(("answers", "expected"), [("0..100", 25), ("1..5", 2)])
def test_examples_show_what_people_said_as_the_model_answers(answers, expected):
    rows = bridged()
    shown = rows.examples(ActiveCritic(variant="vanilla", answers=answers))
    two = next(row for row, points in enumerate(rows.rows.human) if points == 2)
    assert shown[two].score == expected
    assert set(shown[two].inputs().keys()) == {"source", "context", "response"}
    assert shown[two].row == f"select {two}"


def test_examples_hold_what_a_single_question_repeats():
    shown = bridged().examples(ActiveCritic(variant="coarse"))
    assert {"task", "criteria"} <= set(shown[0].keys())
    assert "task" not in bridged().examples(ActiveCritic())[0]


def test_the_metric_says_yes_or_no_while_demonstrations_are_gathered():
    rows = bridged()
    heard = []
    metric = ObjectiveMetric(sets={"select": rows}, heard=lambda *given: heard.append(given))
    example = rows.examples(ActiveCritic(variant="vanilla"))[0]
    answer = ActiveCritic(variant="vanilla")(**example.inputs())
    assert metric(example, answer, trace=[]) in (0.0, 1.0)
    assert metric(example, answer) == pytest.approx(rows.worth(0, heard[0][3]))
    assert heard[0][:3] == ("select", 0, answer.protocol)
    assert metric(example, None) == rows.unscored
