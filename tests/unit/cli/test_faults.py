import pickle

import click
import pytest

from judgesmith import FileError, InputError
from judgesmith.cli.shared.faults import OptionError, blaming, described
from judgesmith.data import DataError, Problem
from judgesmith.errors import MissingFileError, file_faults
from judgesmith.programs.lm import BudgetSpent
from judgesmith.programs.lm.errors import TransientModelError
from judgesmith.signatures import Scale


@pytest.mark.parametrize(
    ("fault", "where", "hint"),
    [
        (InputError("no luck"), None, None),
        (InputError("no rubric", at="a b.yaml"), "a b.yaml", None),
        (InputError("a.yaml: no rubric"), None, None),
        (InputError("a sentence: with a colon"), None, None),
        (InputError("nobody rated 'x'.", hint="did you mean y?"), None, "did you mean y?"),
        (InputError("need 2 rows; got 1."), None, None),
        (InputError("need 2 rows.", where="a.csv", hint="give more."), "a.csv", "give more."),
        (MissingFileError(2, "No such file", "a.csv"), "a.csv", None),
        (click.UsageError("what?"), None, None),
    ],
)
def test_a_fault_says_where_and_what_to_do_if_it_can(fault, where, hint):
    found = described(fault)
    assert (found["where"], found["hint"]) == (where, hint)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (PermissionError(13, "Permission denied", "a"), FileError),
        (FileNotFoundError(2, "Permission denied", "a"), FileNotFoundError),
        (FileExistsError(17, "Permission denied", "a"), FileExistsError),
    ],
)
def test_a_fault_of_the_system_is_a_sentence(fault, kind):
    with pytest.raises(kind) as caught, file_faults("b"):
        raise fault
    assert isinstance(caught.value, FileError)
    assert described(caught.value)["error"] == str(caught.value) == "a: Permission denied"
    assert (caught.value.errno, caught.value.filename) == (fault.errno, "a")


def test_what_a_server_refuses_is_no_fault_of_a_file():
    with pytest.raises(ConnectionResetError), file_faults():
        raise ConnectionResetError


def test_bad_data_says_where_the_first_problem_is():
    problems = [
        Problem(where=f"a.csv:{n}", field="score", expected="a number", came="'x'") for n in (3, 9)
    ]
    found = described(DataError(problems))
    assert found["where"] == "a.csv:3"
    assert "a.csv:9" in found["error"]


def test_advice_is_given_once():
    found = described(InputError("it is a folder.", hint="name a file."))
    assert (found["error"], found["hint"]) == ("it is a folder.", "name a file.")


def test_a_fault_that_is_raised_again_keeps_its_advice():
    inner = InputError("no scale.", hint="give one.")
    outer = InputError(inner, at="a.csv")
    assert str(outer) == "a.csv: no scale; give one."
    assert described(outer) == {
        "error": "a.csv: no scale.",
        "where": "a.csv",
        "hint": "give one.",
    }
    assert described(InputError(ValueError("no luck"), at="b"))["error"] == "b: no luck"
    assert described(pickle.loads(pickle.dumps(outer))) == described(outer)


def test_nobody_looks_for_advice_in_a_sentence():
    found = described(InputError("it is a folder; name a file."))
    assert (found["error"], found["hint"]) == ("it is a folder; name a file.", None)


def test_what_an_option_says_wrong_is_blamed_on_it():
    with pytest.raises(OptionError) as caught, blaming("--target"):
        raise InputError("nobody rated 'x'.", hint="did you mean y?")
    assert described(caught.value) == {
        "error": "nobody rated 'x'.",
        "where": "--target",
        "hint": "did you mean y?",
    }
    with pytest.raises(OptionError, match="name it"), blaming("--scale"):
        raise click.UsageError("name it")


def test_an_option_that_was_not_given_is_not_to_blame():
    with pytest.raises(ValueError, match="no luck") as caught, blaming("--target", given=False):
        raise InputError("no luck")
    assert described(caught.value)["where"] is None


@pytest.mark.parametrize(
    "fault",
    [
        DataError([Problem(where="a.csv:3", field="score", expected="a number", came="'x'")]),
        MissingFileError(2, "No such file", "a.csv"),
        BudgetSpent("spent", ceiling="max_calls", calls=1, tokens=0, usd=0.0, minutes=0.0),
        ValueError("operands could not be broadcast together"),
        KeyError("ours"),
    ],
)
def test_faults_that_know_their_place_or_are_of_no_option_stay_as_they_are(fault):
    with pytest.raises(type(fault)) as caught, blaming("--map"):
        raise fault
    assert caught.value is fault


@pytest.mark.parametrize(
    ("cause", "said"),
    [
        (lambda: Scale(low=1, high="x"), "high: expected a number; got 'x'"),
        (lambda: open("/dev/null/a"), "/dev/null/a: Not a directory"),  # noqa: PTH123, SIM115
    ],
)
def test_faults_of_libraries_are_blamed_in_words_of_our_own(cause, said):
    with pytest.raises(FileError if "null" in said else InputError, match=said), blaming("--x"):
        cause()


def test_a_fault_that_may_pass_says_that_the_same_command_goes_on():
    found = described(TransientModelError("m at x: busy (HTTP 503)", status=503).tried(6))
    assert found == {
        "error": "m at x: busy (HTTP 503), tried 6 times",
        "where": None,
        "hint": "wait, and give the same command again: it goes on from the answers on record.",
    }
