"""How a supervisor is asked to merge annotations, and what stands in where it does not answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from judgesmith.programs.judging import AnySteps, Ask, Calls, asked
from judgesmith.programs.panel_annotations import Annotation, Merged, shown
from judgesmith.programs.panel_merging import merged_by_rule
from judgesmith.programs.supervisor_answers import entries_in
from judgesmith.programs.supervisor_checks import checked

QUESTION = "merge"
"""What the supervisor's one question is called."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Merging:
    """What merging annotations came to.

    Attributes
    ----------
    merged : tuple of Merged
        The errors, in the order of the text.
    n_dropped : int
        Entries of the supervisor that did not stand up to the checks.
    problem : str
        Why the errors are merged by rule although a supervisor was asked; empty otherwise.
    calls : tuple of str
        Identities of the calls behind it.
    """

    merged: tuple[Merged, ...]
    n_dropped: int = 0
    problem: str = ""
    calls: tuple[str, ...] = ()


def merging_steps(annotations: Sequence[Annotation], response: str) -> AnySteps[Merging]:
    """Ask for one list of several, once more where it cannot be read, and check it.

    Nothing is asked where there are no annotations. Where no answer can be read they are merged
    by rule, and the result says so.
    """
    if not annotations:
        return Merging(merged=())
    calls = Calls()
    ask = Ask(
        predictor=QUESTION,
        inputs={"response": response, "annotations": shown(annotations, response)},
    )
    found = yield from asked(
        ask, lambda fields: entries_in(str(fields["merged"] or "")), again=1, calls=calls
    )
    made = tuple(calls.made)
    if isinstance(found, str):
        merged = tuple(merged_by_rule(annotations, response))
        return Merging(merged=merged, problem=found, calls=made)
    kept, n_dropped = checked(found, annotations, response)
    return Merging(merged=tuple(kept), n_dropped=n_dropped, calls=made)
