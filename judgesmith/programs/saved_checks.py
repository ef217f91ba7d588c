"""What a saved judge must be beyond its layout: questions that fit its protocol, plain estimates.

A hash says that a file is as it was written, not that whoever wrote it meant well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from judgesmith.errors import InputError
from judgesmith.programs.families import family_of
from judgesmith.programs.nearest import pairs_missing
from judgesmith.programs.templates import Slot, Template
from judgesmith.signatures.judge_protocol import JudgeProtocol

_REPORTS = ("uncompiled", "best_member", "selection", "heldout")
_NUMBERS = ("value", "low", "high", "n")


def check_questions(protocol: JudgeProtocol, questions: Mapping[str, Template]) -> None:
    """Refuse questions that the protocol does not ask, or whose answers it cannot read.

    Raises
    ------
    ValueError
        If one is missing or too many, leaves out or does not fence a text that it is about, is
        asked for other fields than the judge reads, or is no conversation.
    """
    wanted = family_of(protocol.judge).forms_of(protocol)
    if set(questions) != set(wanted):
        raise InputError(
            f"the protocol asks {', '.join(wanted) or 'nothing'}; got questions called "
            f"{', '.join(questions) or '(none)'}."
        )
    for name, question in questions.items():
        form = wanted[name]
        slots = [piece for piece in question.question if isinstance(piece, Slot)]
        shown_in_it = (*form.texts, *form.told)
        if sorted(slot.name for slot in slots) != sorted(shown_in_it):
            raise InputError(f"the question {name} must show {', '.join(shown_in_it)}, each once.")
        if not all(slot.fenced for slot in slots if slot.name in form.texts):
            raise InputError(f"the question {name} must show every text between fences.")
        if question.predictor != name:
            raise InputError(f"the question {name} is called {question.predictor!r} in itself.")
        if dict(question.outputs) not in form.outputs or question.form != form.form:
            raise InputError(f"the judge cannot read the answers to the question {name}.")
        answers = form.answers or protocol.answers
        if question.answers != answers:
            raise InputError(
                f"the question {name} asks for scores on {question.answers}; the judge reads them "
                f"on {answers}."
            )
        roles = [turn.role for turn in question.turns]
        if roles != ["system", *["user", "assistant"] * (len(roles) // 2)]:
            raise InputError(
                f"the question {name} must begin with one system message and go on with pairs of "
                f"user and assistant; got {', '.join(roles) or 'nothing'}."
            )
        shown = protocol.demonstrations.get(name, ())
        if protocol.nearest is not None and pairs_missing(question, shown):
            raise InputError(
                f"the question {name} must hold each of its {len(shown)} demonstrations as a pair "
                "of turns: the nearest are chosen among them."
            )


def check_agreement(agreement: Mapping[str, Any]) -> None:
    """Refuse agreement that is not estimates by level and statistic.

    Raises
    ------
    ValueError
        If a part is something else; the message says which.
    """
    for part in _REPORTS:
        _check_report(agreement.get(part), part)
    for part, by_name in _items(agreement.get("criteria"), "criteria"):
        for name, report in _items(by_name, part):
            _check_report(report, f"{part}.{name}")
    _check_discernment(dict(_items(agreement.get("discernment"), "discernment")))


def _check_discernment(found: Mapping[str, Any]) -> None:
    """Refuse what a judge notices that is not estimates, over all kinds of change and of each."""
    _check_report(found.get("selection"), "discernment.selection")
    for part in ("seen", "unseen"):
        for name, report in _items(found.get(part), f"discernment.{part}"):
            _check_report(report, f"discernment.{part}.{name}")
    for part in ("kinds", "unseen_kinds"):
        for kind in found.get(part) or ():
            if not isinstance(dict(_items(kind, f"discernment.{part}")).get("name"), str):
                raise InputError(f"discernment.{part}: expected kinds with a name.")


def _check_report(report: Any, where: str) -> None:
    for level, estimates in _items(report, where):
        for statistic, estimate in _items(estimates, f"{where}.{level}"):
            at = f"{where}.{level}.{statistic}"
            if estimate is not None and not {"value", "n"} & set(dict(_items(estimate, at))):
                raise InputError(f"{at}: expected an estimate; got {str(estimate)[:80]!r}.")
            for number, found in _items(estimate, at):
                if number in _NUMBERS and not isinstance(found, int | float | None):
                    raise InputError(f"{at}.{number}: expected a number; got {str(found)[:80]!r}.")


def _items(value: Any, where: str) -> Iterator[tuple[str, Any]]:
    """Yield what a mapping holds, nothing for None."""
    if value is not None and not isinstance(value, Mapping):
        raise InputError(f"{where}: expected an object; got {str(value)[:80]!r}.")
    yield from (value or {}).items()
