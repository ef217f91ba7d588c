"""Every rule makes one error, leaves alone what is wrong already, and takes any text."""

import re
from pathlib import Path
from random import Random

import pytest

from judgesmith.programs.perturbing.error_kinds import RULES, Room
from judgesmith.signatures.perturbation import Edit, InjectedError, Skipped, Target, with_error

TEXT = (
    "Ann Bell met Bob in Rome on 12 May 1999. The bridge was opened before the winter, but some "
    "people said it was unsafe. They have not used it since then; most of the 300 workers left."
)


def made(kind, target, seed=0, **told):
    """Return a target with an error of a kind, or None where there is no room for one."""
    found = RULES[kind].change(Room(target, rng=Random(seed), **told))
    if isinstance(found, Skipped):
        return None
    edits = [Edit(start=start, end=end, text=put) for start, end, put in sorted(found)]
    return with_error(target, edits, sub_aspect="any", kind=kind)


@pytest.mark.parametrize("kind", RULES)
def test_each_rule_makes_one_error_the_same_way_for_the_same_draws(kind):
    first, second = (made(kind, Target(text=TEXT), seed=3) for _ in range(2))
    assert first == second
    assert first.n_errors == 1
    assert first.text != TEXT


@pytest.mark.parametrize("kind", RULES)
def test_each_rule_says_what_is_wrong_in_a_line(kind):
    assert RULES[kind].kind == kind
    assert RULES[kind].says
    assert not RULES[kind].says.endswith(".")


def test_the_page_about_errors_lists_every_kind_and_says_the_same_of_it():
    page = Path(__file__).parents[4] / "docs" / "explanation" / "injected-errors.md"
    listed = re.findall(r"^\| `(\w+)` \| (.*) \|$", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert listed == [(kind, rule.says) for kind, rule in RULES.items()]


@pytest.mark.parametrize("kind", RULES)
def test_no_rule_touches_an_earlier_error_however_many_there_are(kind):
    target = Target(text=TEXT)
    for seed in range(12):
        found = made(kind, target, seed)
        if found is None:
            break
        assert isinstance(found, Target)  # with_error refuses what touches another
        kept = zip(target.errors, found.errors, strict=False)
        for before, after in kept:
            shown = [target.text[start:end] for start, end in before.spans]
            assert [found.text[start:end] for start, end in after.spans] == shown
        target = found
    assert target.n_errors > 0


@pytest.mark.parametrize("kind", RULES)
def test_where_everything_is_wrong_already_there_is_no_room(kind):
    error = InjectedError(
        sub_aspect="any", kind="model", spans=((0, len(TEXT)),), removed=("Nothing.",)
    )
    found = made(kind, Target(text=TEXT, errors=(error,)))
    assert found is None or found.errors[1].removed == ("",)  # beside it, apart by a blank


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "?!",
        "word",
        "她走了。他留下。",
        "😀 😀",
        "half: \ud800 a",
        "a\x00b",
        "a\u0301 \u202eb\u202c c.",
    ],
)
def test_any_text_is_changed_or_left_alone(text):
    for kind in RULES:
        found = made(kind, Target(text=text))
        assert found is None or isinstance(found, Target | str)
