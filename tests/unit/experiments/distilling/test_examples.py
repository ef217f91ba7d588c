"""What a judgement is worth as an example, and why some are worth nothing."""

import pytest

from judgesmith.experiments.distil.examples import (
    CONTRADICTS,
    NOT_ASKED,
    UNGRADED,
    UNREADABLE,
    UNRESOLVED,
    UNSCORED,
    example_of,
    rounded,
)
from judgesmith.experiments.distil.sampling import Sampled
from judgesmith.signatures import ErrorSpan, Judgement, RatedItem, Reason, Scale

TEXT = "The ferry left at ten, and again at ten past ten, with Ms Ito."
SAMPLED = Sampled(
    item=RatedItem(source="s", response=TEXT), source=0, criteria=("truth",), split="train"
)


def at(start, end, severity=3, **more):
    return ErrorSpan(
        **{
            "text": TEXT[start:end],
            "start": start,
            "end": end,
            "severity": severity,
            "explanation": f"Number {start}.",
            "criterion": "truth",
            **more,
        }
    )


LOST = ErrorSpan(text="a balloon", severity=5, located="unresolved", criterion="truth")
MISSING = ErrorSpan(
    text="none", severity=2, explanation="No date.", located="missing", criterion="truth"
)


def of(score, *errors, unresolved=0.25):
    said = Judgement(score=1, criteria={"truth": {"score": score}}, errors=errors)
    return example_of(SAMPLED, "truth", said, scale=Scale(low=1, high=5), unresolved=unresolved)


def test_errors_are_told_in_the_order_of_the_text_and_what_is_missing_last():
    found = of(61.25, MISSING, at(18, 21), at(4, 9, 5))
    assert (found.left_out, found.score, found.n_errors, found.n_dropped) == ("", 60, 3, 0)
    assert found.answer == (
        'Errors:\n1. Location: "ferry"\n   Severity: 5\n   Explanation: Number 4.\n'
        '2. Location: "ten"\n   Severity: 3\n   Explanation: Number 18.\n'
        "3. Location: none\n   Severity: 2\n   Explanation: No date.\n\nOverall score: 60"
    )


def test_of_many_errors_the_eight_most_severe_are_told():
    found = of(5, *(at(n, n + 1, 1 if n == 3 else 4) for n in range(9)))
    assert (found.n_errors, found.n_dropped) == (8, 1)
    assert "Number 3." not in found.answer


def test_errors_of_other_criteria_are_not_told():
    found = of(100, at(0, 3, criterion="wit"))
    assert found.answer == "Errors:\nNo Error\n\nOverall score: 100"


@pytest.mark.parametrize(
    ("score", "errors", "reason"),
    [
        (100, [at(0, 3)], CONTRADICTS),
        (98, [at(0, 3)], CONTRADICTS),
        (80, [], CONTRADICTS),
        (80, [LOST, at(0, 3)], UNRESOLVED),
        (80, [at(0, 999)], UNRESOLVED),
        (80, [at(0, 3, None)], UNGRADED),
        (80, [at(0, 3, explanation="It is. Location: nowhere")], UNREADABLE),
        (None, [], UNSCORED),
    ],
)
def test_what_teaches_nothing_right_is_left_out_with_the_reason(score, errors, reason):
    found = of(score, *errors)
    assert (found.left_out, found.answer) == (reason, "")
    assert found.row()["left_out"] == reason


def test_few_errors_that_are_nowhere_are_dropped_and_counted():
    found = of(20, LOST, *(at(n, n + 2) for n in (0, 4, 10)))
    assert (found.left_out, found.n_errors, found.n_dropped) == ("", 3, 1)
    assert of(20, LOST, at(0, 3), unresolved=0.5).left_out == ""


def test_an_output_without_a_judgement_says_why():
    def why(problem, reason):
        said = Judgement.unscored(problem, reason=reason)
        return example_of(SAMPLED, "truth", said, scale=Scale(low=0, high=1), unresolved=0)

    assert why("max_calls is reached", Reason.OVER_BUDGET).left_out == NOT_ASKED
    found = why("the answer could not be read", Reason.UNREADABLE)
    assert (found.left_out, found.score) == (UNSCORED, None)
    assert found.row()["problem"] == "the answer could not be read"


def test_a_criterion_that_has_a_score_counts_although_another_has_none():
    said = Judgement.unscored("wit: unreadable", criteria={"truth": {"score": 100.0}})
    scale = Scale(low=0, high=1)
    assert example_of(SAMPLED, "truth", said, scale=scale, unresolved=0).left_out == ""


@pytest.mark.parametrize(
    ("judgement", "score"), [(Judgement(score=3, raw=100), 100), (Judgement(score=5), 100)]
)
def test_of_the_whole_the_score_is_as_the_model_gave_it(judgement, score):
    scale = Scale(low=1, high=5)
    assert example_of(SAMPLED, "", judgement, scale=scale, unresolved=0).score == score


def test_a_mean_of_five_levels_is_a_multiple_of_five():
    means = [sum((5, 5, 4, 4, n)) / 5 for n in range(1, 6)]
    assert [rounded(100 * (mean - 1) / 4) for mean in means] == [70, 75, 80, 85, 90]
    assert [rounded(one) for one in (0, 2.4, 2.5, 97.4, 97.5, 100)] == [0, 0, 5, 95, 100, 100]
