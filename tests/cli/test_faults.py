import click
import pytest

from judgesmith.cli.faults import OptionError, blaming, described, is_expected
from judgesmith.experiments import DataError, Problem
from judgesmith.programs.models import BudgetSpent, LedgerError, ModelError
from judgesmith.programs.models.errors import TransientModelError


@pytest.mark.parametrize(
    ("fault", "where", "hint"),
    [
        (ValueError("no luck"), None, None),
        (ValueError("a.yaml: no rubric"), "a.yaml", None),
        (ValueError("a sentence: with a colon"), None, None),
        (ValueError("nobody rated 'x'; did you mean y?"), None, "did you mean y?"),
        (ValueError("need 2 rows; got 1."), None, None),
        (FileNotFoundError(2, "No such file", "a.csv"), "a.csv", None),
        (click.UsageError("what?"), None, None),
    ],
)
def test_a_fault_says_where_and_what_to_do_if_it_can(fault, where, hint):
    found = described(fault)
    assert (found["where"], found["hint"]) == (where, hint)


def test_a_fault_of_the_system_is_a_sentence():
    assert (
        described(PermissionError(13, "Permission denied", "a"))["error"] == "a: Permission denied"
    )


def test_bad_data_says_where_the_first_problem_is():
    problems = [
        Problem(where=f"a.csv:{n}", field="score", expected="a number", came="'x'") for n in (3, 9)
    ]
    found = described(DataError(problems))
    assert found["where"] == "a.csv:3"
    assert "a.csv:9" in found["error"]


def test_faults_of_users_and_models_are_expected_and_others_are_not():
    spent = BudgetSpent("spent", ceiling="max_calls", calls=1, tokens=0, usd=0.0, minutes=0.0)
    assert all(map(is_expected, [ValueError(), OSError(), ModelError(""), LedgerError(), spent]))
    assert not any(map(is_expected, [KeyError(), AssertionError(), RuntimeError(), TypeError()]))


@pytest.mark.parametrize(
    ("message", "error", "hint"),
    [
        ("it is a folder; name a file.", "it is a folder.", "name a file."),
        ("No answer. Check the key.", "No answer.", "Check the key."),
        ("expected x (say which with y); got z", "expected x; got z", "say which with y"),
        ("one\n  two; did you mean 2?", "one\n  two.", "did you mean 2?"),
        ("nothing to advise (none); at all.", "nothing to advise (none); at all.", None),
    ],
)
def test_advice_is_given_once(message, error, hint):
    found = described(ValueError(message))
    assert (found["error"], found["hint"]) == (error, hint)


def test_what_an_option_says_wrong_is_blamed_on_it():
    with pytest.raises(OptionError) as caught, blaming("--target"):
        raise ValueError("nobody rated 'x'; did you mean y?")
    assert is_expected(caught.value)
    assert described(caught.value) == {
        "error": "nobody rated 'x'.",
        "where": "--target",
        "hint": "did you mean y?",
    }
    with pytest.raises(OptionError, match="name it"), blaming("--scale"):
        raise click.UsageError("name it")


def test_an_option_that_was_not_given_is_not_to_blame():
    with pytest.raises(ValueError, match="no luck") as caught, blaming("--target", given=False):
        raise ValueError("no luck")
    assert described(caught.value)["where"] is None


@pytest.mark.parametrize(
    "fault",
    [
        DataError([Problem(where="a.csv:3", field="score", expected="a number", came="'x'")]),
        FileNotFoundError(2, "No such file", "a.csv"),
        KeyError("ours"),
    ],
)
def test_faults_that_know_their_place_or_are_ours_stay_as_they_are(fault):
    with pytest.raises(type(fault)) as caught, blaming("--map"):
        raise fault
    assert caught.value is fault


def test_a_fault_that_may_pass_says_that_the_same_command_goes_on():
    found = described(TransientModelError("m at x: busy (HTTP 503)", status=503).tried(6))
    assert found == {
        "error": "m at x: busy (HTTP 503), tried 6 times",
        "where": None,
        "hint": "wait, and give the same command again: it goes on from the answers on record.",
    }
