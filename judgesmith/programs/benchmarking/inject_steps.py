"""How a model is asked for errors: told once, verified, told what was wrong, dropped in the end.

Free of DSPy: whoever drives the generators decides how the model is reached.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any

from judgesmith.programs.benchmarking.injection_checks import verified_errors
from judgesmith.programs.benchmarking.injection_counts import Counts
from judgesmith.programs.benchmarking.injection_job import Job
from judgesmith.programs.benchmarking.reported_errors import read_errors
from judgesmith.programs.judging import AnySteps, Ask
from judgesmith.programs.perturbing.change_steps import ATTEMPTS, UNREADABLE, WARM
from judgesmith.programs.perturbing.orders import LONGEST
from judgesmith.programs.perturbing.passage import Passage
from judgesmith.signatures.injection import EARLIER_TOUCHED, SubAspect, Target
from judgesmith.signatures.line_ends import unix_lines
from judgesmith.signatures.perturbation import Skipped

NOT_AS_REPORTED = "the errors are not reported as asked for"
"""The fault of an answer whose list of errors cannot be read, or has another number of them."""

_UNREAD = "the answer could not be read"
_TOO_LONG = "longer than the model reads"


def inject_steps(
    job: Job,
    target: Target,
    sub_aspects: Sequence[SubAspect],
    counts: Counts,
    *,
    earlier: Collection[str] = (),
) -> AnySteps[Target | Skipped]:
    """Ask for a text with one error per sub-aspect, and again where the answer is none.

    Parameters
    ----------
    job : Job
        What the text belongs to.
    target : Target
        The text as it is now.
    sub_aspects : sequence of SubAspect
        What the errors are bound to.
    counts : Counts
        Where questions, faults and the outcome are counted.
    earlier : collection of str
        What the text was before: what becomes that again has lost its errors.

    Returns
    -------
    Target or Skipped
        The first answer that stands up to ``verified_errors``; or why there is none after
        ``ATTEMPTS``, in words that are the same for all texts with the same reason.
    """
    found = yield from _attempts(job, target, sub_aspects, counts, earlier)
    counts.outcome(found.reason if isinstance(found, Skipped) else "")
    return found


def sequence_steps(
    job: Job, drawn: Sequence[SubAspect], counts: Counts, found: list[Target]
) -> AnySteps[None]:
    """Ask for one error after the other, until a step fails for good.

    Parameters
    ----------
    job, counts
        See ``inject_steps``.
    drawn : sequence of SubAspect
        What each step is bound to.
    found : list of Target
        The texts so far, to which each step adds one: they are there also where the model cannot
        be asked any further.
    """
    for sub_aspect in drawn:
        earlier = {one.text for one in found}
        made = yield from inject_steps(job, found[-1], (sub_aspect,), counts, earlier=earlier)
        if isinstance(made, Skipped):
            break
        found.append(made)


def _attempts(
    job: Job,
    target: Target,
    sub_aspects: Sequence[SubAspect],
    counts: Counts,
    earlier: Collection[str],
) -> AnySteps[Target | Skipped]:
    if len(target.text) > LONGEST:
        return Skipped(reason=f"longer than {LONGEST} characters")
    if not Passage(target.text).words:
        return Skipped(reason="no word")
    told = told_of(job, target, sub_aspects)
    refused: str | None = None
    for attempt in range(ATTEMPTS):
        counts.question(attempt)
        sample = job.sample * ATTEMPTS + attempt
        reply = yield Ask(
            predictor="inject",
            inputs={**told, "refused": refused},
            sample=sample,
            temperature=WARM if sample else None,
        )
        if reply.fields is None:
            counts.fault(_TOO_LONG if reply.final else _UNREAD)
            if reply.final:
                return Skipped(reason=_TOO_LONG)
            continue
        found = _checked(reply.fields, target, sub_aspects)
        if isinstance(found, Target) and found.text in earlier:
            found = EARLIER_TOUCHED
        if isinstance(found, Target):
            return found
        counts.fault(found)
        refused = found
    return Skipped(reason=UNREADABLE if refused is None else f"no usable answer: {refused}")


def _checked(fields: Any, target: Target, sub_aspects: Sequence[SubAspect]) -> Target | str:
    answer = str(fields["changed"] or "")
    try:
        reported = read_errors(str(fields["errors"] or ""), len(sub_aspects))
    except ValueError:
        return NOT_AS_REPORTED
    return verified_errors(answer, reported, target, sub_aspects)


def told_of(job: Job, target: Target, sub_aspects: Sequence[SubAspect]) -> dict[str, str | None]:
    """Return what a model is told of a text, without what was wrong with an earlier answer.

    Examples
    --------
    >>> side = SubAspect(criterion="fluency", name="grammar", definition="Forms are right.")
    >>> given = Target(text="It rained.")
    >>> job = Job(key="a", target=given, criterion="fluency", sub_aspects=[side])
    >>> told_of(job, given, [side])["wanted"]
    '1. grammar: Forms are right.'
    """
    return {
        "task": job.task or None,
        "criterion": _line(job.criterion, job.definition),
        "wanted": "\n".join(
            f"{number}. {_line(one.name, one.definition)}"
            for number, one in enumerate(sub_aspects, start=1)
        ),
        "source": job.source or None,
        "context": job.context or None,
        "earlier": _earlier(target),
        "text": target.text,
    }


def _line(name: str, definition: str) -> str:
    return " ".join(f"{name}: {definition}".split()).removesuffix(":")


def _earlier(target: Target) -> str | None:
    """Return the places of earlier errors, a line for each, with the word on either side."""
    words = Passage(target.text).words if target.errors else []
    lines = []
    for one in target.errors:
        for start, end in one.spans:
            first = max((word[0] for word in words if word[1] <= start), default=0)
            last = min((word[1] for word in words if word[0] >= end), default=len(target.text))
            lines.append(json.dumps(unix_lines(target.text[first:last]), ensure_ascii=False))
    return "\n".join(lines) or None
