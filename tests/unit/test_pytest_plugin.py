"""Judges in pytest, and the hooks for pre-commit."""

import shlex
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest
import yaml

from judgesmith.cli.main import COMMANDS
from judgesmith.cli.pre_commit import main
from judgesmith.programs import DirectJudge, SavedJudge
from judgesmith.programs.artifacts.differences import Expectation
from judgesmith.pytest_plugin import _Session, assert_judged
from judgesmith.signatures import RatedItem, Scale
from judgesmith.signatures.aggregation import Aggregation, Decision

# Judges in pytest: what passes, what fails and in which words, one budget, and no cost unused.

pytest_plugins = ["pytester"]

# Where the package is installed anew, pytest loads the plugin by itself.
INSTALLED = "judgesmith" in entry_points(group="pytest11").names
LOADED = [] if INSTALLED else ["-p", "judgesmith.pytest_plugin"]
QUIET = ["-p", "no:cacheprovider", "-p", "no:randomly", "-q"]
HEAVY = ("dspy", "numpy", "pandas", "scipy", "litellm", "optuna", "pydantic", "click")
GOOD = "The bridge opened on Monday after two years of repairs."
BAD = "Zx qq 77 Hats!! ate ate ate twelve mayors of Rome"
ONE = f"""
    def test_one(assert_judged):
        found = assert_judged("judge", source={GOOD!r}, response={GOOD!r}, at_least=50)
        assert found.score > 50
"""


@pytest.fixture
def folder(pytester):
    """A folder of tests with a judge in it, which asks the offline model one question."""
    judge = DirectJudge()
    SavedJudge(
        protocol=judge.protocol,
        questions=judge.templates(),
        model="offline",
        target="overall",
        human_scale=Scale(low=1, high=5),
    ).save(pytester.path / "judge")
    pytester.makeini("[pytest]")
    return pytester


@pytest.fixture
def run(folder):
    def inner(code, *options):
        folder.makepyfile(code)
        return folder.runpytest_inprocess(*LOADED, *QUIET, *options)

    return inner


def test_what_is_as_expected_passes_and_the_session_says_what_it_cost(run, folder):
    done = run(ONE)
    done.assert_outcomes(passed=1)
    done.stdout.fnmatch_lines(["judgesmith: 1 judgements, 1 calls, 0 from the cache, * tokens, $*"])
    assert (folder.path / ".judgesmith" / "ledger.sqlite").is_file()
    run(ONE).stdout.fnmatch_lines(["judgesmith: 1 judgements, 0 calls, 1 from the cache, *"])


def test_a_failure_says_the_score_what_was_expected_and_the_text(run):
    done = run(
        f"""
        from judgesmith.pytest_plugin import assert_judged

        def test_bad():
            assert_judged("judge", source={GOOD!r}, response={BAD!r}, at_least=90)

        def test_good():
            assert_judged("judge", source={GOOD!r}, response={GOOD!r}, at_most=10)

        def test_criteria():
            assert_judged("judge", response={GOOD!r}, criteria={{"wit": 50}})
        """
    )
    done.assert_outcomes(failed=3)
    done.stdout.fnmatch_lines(
        [
            "E * AssertionError: the score is *, expected 90 or more",
            f"E *response: {BAD}",
            "E * AssertionError: the score is *, expected 10 or less",
            "E * AssertionError: there is no criterion 'wit'; the judge scores: *",
        ]
    )
    done.stdout.no_fnmatch_line("*pytest_plugin.py*")


def test_what_cannot_be_asked_is_an_error_of_the_test(run):
    done = run(
        """
        def test_missing(assert_judged):
            assert_judged("nobody", response="r")

        def test_bound(assert_judged):
            assert_judged("judge", response="r", at_least=101)

        def test_errors(assert_judged):
            assert_judged("judge", response="r", no_errors=True)

        def test_none(assert_judged_all):
            assert_judged_all("judge", [])

        def test_share(assert_judged_all):
            assert_judged_all("judge", [{"response": "r"}], share=0)

        def test_item(assert_judged_all):
            assert_judged_all("judge", [{"response": "r"}, {"respons": "r"}])

        def test_text(assert_judged):
            assert_judged("judge", response="r", references="one")
        """
    )
    done.assert_outcomes(failed=7)
    done.stdout.fnmatch_lines(
        [
            "*no judge found; expected a judge.json*",
            "*at_least is in points from 0 to 100 here; got 101.",
            "*no_errors needs a judge that looks for errors, and this one does not*",
            "*there are no items to judge*",
            "*share is above 0 and up to 1; got 0.",
            "*judgesmith.InputError: item 2: response is missing; respons: there is no such field.",
            "*judgesmith.InputError: item 1: references: expected a list; got 'one'.",
        ]
    )


def test_a_share_of_several_texts_is_enough(run):
    done = run(
        f"""
        ITEMS = [{{"source": {GOOD!r}, "response": one}} for one in ({GOOD!r}, {GOOD!r}, {BAD!r})]

        def test_enough(assert_judged_all):
            assert len(assert_judged_all("judge", ITEMS, at_least=50, share=0.6)) == 3

        def test_too_few(assert_judged_all):
            assert_judged_all("judge", ITEMS, at_least=50, share=0.9)
        """
    )
    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(
        [
            "*2 of 3 responses are as expected, and 0.9 of them should be",
            "*item 3: the score is *, expected 50 or more",
        ]
    )


def test_one_budget_holds_for_the_session_and_what_is_not_asked_fails_with_the_reason(run, folder):
    code = """
        import pytest

        @pytest.mark.parametrize("n", range(3))
        def test_each(assert_judged, n):
            assert_judged("judge", response=f"Text number {n}.", unscored=n == 2)
    """
    done = run(code, "--judgesmith-max-calls", "1")
    done.assert_outcomes(passed=2, failed=1)
    done.stdout.fnmatch_lines(["*there is no score: not asked: the budget of 1 calls is spent."])
    folder.makeini("[pytest]\njudgesmith_max_calls = 2\njudgesmith_ledger = kept/ledger.sqlite")
    folder.runpytest_inprocess(*LOADED, *QUIET).assert_outcomes(passed=3)
    assert (folder.path / "kept" / "ledger.sqlite").is_file()
    wrong = run(code, "--judgesmith-max-calls", "many")
    wrong.stdout.fnmatch_lines(
        ["*--judgesmith-max-calls: expected a number, 0 or more; got 'many'."]
    )


@pytest.mark.no_cover
def test_what_a_worker_of_xdist_asked_is_said_in_the_end(folder):
    folder.makepyfile(ONE)
    done = folder.runpytest_subprocess(*LOADED, *QUIET, "-n", "1")
    done.assert_outcomes(passed=1)
    done.stdout.fnmatch_lines(["judgesmith: 1 judgements, 1 calls, *"])


def test_processes_of_one_session_share_its_budget(folder, monkeypatch):
    monkeypatch.setenv("PYTEST_XDIST_TESTRUNUID", "abc")
    config = folder.parseconfig(*LOADED, "--judgesmith-max-calls", "3")
    several = [_Session(config).made() for _ in range(2)]
    items = [RatedItem(response=f"Text number {n}.") for n in range(4)]
    for number, one in enumerate(several):
        found = one.judged("judge", items[2 * number : 2 * number + 2], Expectation())
        assert [each.score is None for each in found] == [False, number == 1]


@pytest.mark.no_cover
def test_a_session_without_judges_imports_and_says_nothing_of_them(folder):
    folder.makepyfile(
        f"""
        import sys

        def test_nothing():
            assert [name for name in {HEAVY} if name in sys.modules] == []
        """
    )
    done = folder.runpytest_subprocess(*LOADED, *QUIET)
    done.assert_outcomes(passed=1)
    done.stdout.no_fnmatch_line("*judgesmith:*")
    assert not (folder.path / ".judgesmith").exists()


def test_it_is_a_function_outside_of_sessions_as_well(folder, monkeypatch):
    plugin = sys.modules[assert_judged.__module__]
    monkeypatch.setattr(plugin, "_SESSIONS", [])
    assert assert_judged("judge", source=GOOD, response=GOOD).score > 50
    with pytest.raises(AssertionError, match="expected 100 or more"):
        assert_judged(SavedJudge.load("judge"), source=GOOD, response=BAD, at_least=100)


# What pre-commit is offered: hooks that name commands there are, and a check of every file.

ROOT = Path(__file__).resolve().parents[2]
HOOKS = {one["id"]: one for one in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("good.csv").write_text("source,response,score\na,b,1\nc,d,5\ne,f,2\n")
    Path("bad.csv").write_text("source,response,score\na,b,many\n")


def test_every_file_is_checked_and_the_worst_status_counts(files, capsys):
    assert main(["--scale", "1..5", "--", "good.csv", "good.csv"]) == 0
    assert capsys.readouterr().out.count("good: rated data") == 2
    assert main(["--scale", "1..5", "--", "bad.csv", "good.csv"]) == 2
    said = capsys.readouterr()
    assert "bad.csv" in said.err
    assert "good: rated data" in said.out


def test_hooks_name_what_there_is():
    assert set(HOOKS) == {"judgesmith-check", "judgesmith-recheck"}
    assert HOOKS["judgesmith-check"]["entry"] == "python -m judgesmith.cli.pre_commit"
    program, command = shlex.split(HOOKS["judgesmith-recheck"]["entry"])
    assert (program, command in COMMANDS) == ("judgesmith", True)
    page = (ROOT / "docs" / "how-to" / "ci.md").read_text(encoding="utf-8")
    assert all(f"- id: {name}" in page for name in HOOKS)


# Judges that give labels.


@pytest.fixture
def labelling(folder):
    """A judge beside the other, whose scores of 50 and more are a pass."""
    judge = DirectJudge()
    decision = Decision(scale=Scale.of_labels("fail", "pass"), threshold=0.5)
    protocol = judge.protocol.model_copy(update={"aggregation": Aggregation(decision=decision)})
    SavedJudge(
        protocol=protocol,
        questions=DirectJudge(protocol).templates(),
        model="offline",
        target="overall",
        human_scale=decision.scale,
    ).save(folder.path / "labelling")


def test_a_response_passes_by_its_label_and_a_failure_has_the_words_of_the_judge(labelling, run):
    done = run(
        f"""
        def test_good(assert_passes):
            assert assert_passes("labelling", source={GOOD!r}, response={GOOD!r}).label == "pass"

        def test_bad(assert_passes):
            assert_passes("labelling", source={GOOD!r}, response={BAD!r})

        def test_scores(assert_passes):
            assert_passes("judge", response={GOOD!r})
        """
    )
    done.assert_outcomes(passed=1, failed=2)
    done.stdout.fnmatch_lines(
        [
            "E * AssertionError: the label is 'fail' (probability of 'pass' 0.*), expected 'pass'",
            f"E *response: {BAD}",
            "E *assert_passes needs a judge that gives labels such as pass and fail; *",
        ]
    )
